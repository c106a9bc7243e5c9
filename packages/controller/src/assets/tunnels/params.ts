import { secretMask, type TunnelType, tunnelParams, tunnelSecretsOf } from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import { createSchemaCheck, type SchemaCheck } from '../../schema-check.ts';
import type { TunnelParams } from '../../store/assets/tunnels.ts';

const checks = Object.fromEntries(
  Object.entries(tunnelParams).map(([type, schema]) => [type, createSchemaCheck(schema)]),
) as Record<TunnelType, SchemaCheck>;

/** Everything that the schema of the type has against `params`, with pointers into the tunnel. */
export const issuesOfParams = (type: TunnelType, params: TunnelParams): Issue[] =>
  checks[type](structuredClone(params), '/params');

/** `given` with its masks replaced by the stored secrets; null removes a member. */
export const unmaskParams = (type: TunnelType, stored: TunnelParams, given: TunnelParams): TunnelParams => {
  const secrets = tunnelSecretsOf(type);
  const isMask = (name: string, value: unknown) => value === secretMask && secrets.includes(name);
  const members = Object.entries(given).map(([name, value]) => [name, isMask(name, value) ? stored[name] : value]);
  return Object.fromEntries(members.filter(([, value]) => value !== null && value !== undefined));
};

/** `given` over `stored`, member by member. */
export const mergeParams = (type: TunnelType, stored: TunnelParams, given: TunnelParams): TunnelParams =>
  unmaskParams(type, stored, { ...stored, ...given });
