import { type ProtocolConfig, type ProtocolName, protocolNames, protocolProfiles } from '@rushhour/contract';
import type { TSchema } from 'typebox';
import type { Issue } from '../../errors.ts';
import { createSchemaCheck, type SchemaCheck } from '../../schema-check.ts';

const checks = Object.fromEntries(
  protocolNames.map((name) => [name, createSchemaCheck(protocolProfiles[name] as TSchema)]),
) as Record<ProtocolName, SchemaCheck>;

/** Every problem of a profile's config. */
export const issuesOfProtocol = (name: ProtocolName, config: unknown): Issue[] => checks[name](structuredClone(config));

/** The config with every default filled in. Give it what `issuesOfProtocol` has nothing against. */
export const protocolConfigOf = <Name extends ProtocolName>(name: Name, config: unknown): ProtocolConfig<Name> => {
  const filled = structuredClone(config);
  checks[name](filled);
  return filled as ProtocolConfig<Name>;
};
