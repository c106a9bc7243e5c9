import { secretMask, type TunnelType, tunnelParams, tunnelSecretsOf } from '@rushhour/contract';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Issue } from '../../errors.ts';
import type { TunnelParams } from '../../store/tunnels.ts';

const ajv = new Ajv({ allErrors: true, strict: false });
const validators = Object.fromEntries(
  Object.entries(tunnelParams).map(([type, schema]) => [type, ajv.compile(schema)]),
) as Record<TunnelType, ValidateFunction>;

/** Everything that the schema of the type has against `params`, with pointers into the tunnel. */
export const issuesOfParams = (type: TunnelType, params: TunnelParams): Issue[] => {
  const validate = validators[type];
  return validate(params) ? [] : (validate.errors ?? []).map(issueOf);
};

const issueOf = ({ keyword, instancePath, params, message = 'is invalid' }: ErrorObject): Issue => {
  const path = `/params${instancePath}`;
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty']).replaceAll('~', '~0').replaceAll('/', '~1');
    return { path: `${path}/${name}`, code: 'UNKNOWN_MEMBER', message: 'is not known here' };
  }
  const allowed = keyword === 'enum' ? `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}` : message;
  return { path, code: keyword.replace(/([A-Z])/g, '_$1').toUpperCase(), message: allowed };
};

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
