import { type ProtocolConfig, type ProtocolName, protocolProfiles } from '@rushhour/contract';
import { createSchemaCheck } from '../../packages/controller/src/schema-check.ts';

type Deep<T> = { [K in keyof T]?: T[K] extends readonly unknown[] ? T[K] : Deep<T[K]> };

/** A valid profile with all defaults applied, as a controller sends it. */
export const profileOf = <Name extends ProtocolName>(
  protocol: Name,
  given: Deep<ProtocolConfig<Name>>,
): ProtocolConfig<Name> => {
  const config = structuredClone(given);
  const problems = createSchemaCheck(protocolProfiles[protocol])(config);
  if (problems.length > 0) throw new RangeError(problems.map(({ path, message }) => `${path} ${message}`).join('; '));
  return config as ProtocolConfig<Name>;
};
