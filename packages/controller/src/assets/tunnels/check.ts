import { secretMask, type TunnelType, tunnelParams, tunnelSecretsOf } from '@rushhour/contract';
import {
  createEndpointPairs,
  DraftError,
  findAddress,
  type Issue,
  innerMtuOf,
  issuesOfEndpoints,
  type TunnelParams as PoolParams,
} from '@rushhour/pools';
import { invalid, type Issue as RequestIssue } from '../../errors.ts';
import { createSchemaCheck, type SchemaCheck } from '../../schema-check.ts';
import type { TunnelParams } from '../../store/assets/tunnels.ts';

const checks = Object.fromEntries(
  Object.entries(tunnelParams).map(([type, schema]) => [type, createSchemaCheck(schema)]),
) as Record<TunnelType, SchemaCheck>;

/** All schema problems of `params`, with pointers into the tunnel. */
const issuesOfParams = (type: TunnelType, params: TunnelParams): RequestIssue[] =>
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

export interface CheckedTunnel {
  type: TunnelType;
  clientIp?: string | null;
  serverIp?: string | null;
  endpoints?: string | null;
  count?: number | null;
  mtu?: number | null;
  certificateID?: number | null;
  params: Record<string, unknown>;
}

const shownPairs = 1000;
const smallestIpv4Mtu = 68;
const smallestIpv6Mtu = 1280;

/** Checks a draft: its problems, its first pairs of endpoints and its inner MTU. */
export const checkTunnel = (draft: CheckedTunnel) => {
  const ends = endIssues(draft);
  const params = issuesOfParams(draft.type, draft.params).map((issue) => ({ ...issue, severity: 'error' as const }));
  const pairs = findPairs(draft);
  const numbers = params.length === 0 ? numberIssues(draft, pairs?.count ?? 1n) : [];
  const { innerMtu, issues: sizes } = params.length === 0 ? measure(draft) : { innerMtu: 0, issues: [] };
  const issues: Issue[] = [...ends, ...params, ...numbers, ...sizes, ...missingSecrets(draft)];
  return {
    valid: issues.every(({ severity }) => severity === 'warning'),
    issues,
    endpoints: pairs?.first(shownPairs) ?? [],
    count: Number(pairs?.count ?? draft.count ?? 0),
    innerMtu,
  };
};

export const assertValidTunnel = (draft: CheckedTunnel) => {
  const errors = checkTunnel(draft).issues.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw invalid(errors.map(({ path, code, message }) => ({ path, code, message })));
};

/** A task may name the ends that a tunnel leaves out, so a missing end is a warning. */
const endIssues = (draft: CheckedTunnel): Issue[] => {
  const issues = issuesOfEndpoints(draft).map((issue): Issue => {
    const isLeftOut = issue.code === 'ENDPOINT_MISSING' && !draft[issue.path.slice(1) as 'clientIp' | 'serverIp'];
    return isLeftOut ? { ...issue, severity: 'warning' } : issue;
  });
  for (const name of ['clientIp', 'serverIp'] as const) {
    const isReported = issues.some(({ path }) => path === `/${name}`);
    if (!draft[name] || isReported || findAddress(draft[name].trim())) continue;
    issues.push(issueAt(`/${name}`, 'ADDRESS_INVALID', `"${draft[name]}" is not an IP address`));
  }
  return issues;
};

const findPairs = (draft: CheckedTunnel) => {
  try {
    return createEndpointPairs(draft);
  } catch (error) {
    if (error instanceof DraftError) return undefined;
    throw error;
  }
};

const numberLimits: Readonly<Record<string, number>> = {
  key: 2 ** 32,
  vni: 2 ** 24,
  sessionId: 2 ** 32,
  peerSessionId: 2 ** 32,
  teid: 2 ** 32,
  label: 2 ** 20,
};

/** The id of the last tunnel must still fit its header. */
const numberIssues = ({ params }: CheckedTunnel, count: bigint): Issue[] =>
  Object.entries(numberLimits).flatMap(([name, limit]) => {
    const [first, step = 1] = [params[name], params[`${name}Step`]];
    if (typeof first !== 'number') return [];
    const last = BigInt(first) + (count - 1n) * BigInt(step as number);
    if (last < BigInt(limit)) return [];
    return [
      issueAt(
        `/params/${name}`,
        'NUMBER_OVERFLOW',
        `the last of ${count} tunnels would have ${last}, beyond ${limit - 1}`,
      ),
    ];
  });

const measure = ({ type, clientIp, serverIp, endpoints, mtu, params }: CheckedTunnel) => {
  const outerVersion = (endpoints || clientIp || serverIp || '').includes(':') ? 6 : 4;
  try {
    // Agents keep room for UDP, because a NAT may be found at any time.
    const kept = { ...(params as PoolParams), natt: true };
    const { innerMtu } = innerMtuOf({ type, outerVersion, outerMtu: mtu ?? 1500, params: kept });
    return { innerMtu, issues: sizeIssues(innerMtu) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { innerMtu: 0, issues: [issueAt('/params/cipher', 'CIPHER_UNKNOWN', error.message)] };
  }
};

const sizeIssues = (innerMtu: number): Issue[] => {
  if (innerMtu >= smallestIpv6Mtu) return [];
  if (innerMtu < smallestIpv4Mtu)
    return [issueAt('/mtu', 'MTU_TOO_SMALL', `leaves ${innerMtu} bytes for inner packets`)];
  const message = `leaves ${innerMtu} bytes for inner packets; IPv6 needs ${smallestIpv6Mtu}`;
  return [issueAt('/mtu', 'MTU_SMALL', message, 'warning')];
};

/** A task may bring the secret itself, so a missing one is a warning. */
const missingSecrets = ({ type, params, certificateID }: CheckedTunnel): Issue[] => {
  const wanted = (path: string, isThere: unknown) =>
    isThere ? [] : [issueAt(path, 'SECRET_MISSING', 'is needed before a task can use the tunnel', 'warning')];
  if (type === 'wireguard') return wanted('/params/privateKey', params['privateKey']);
  if (type !== 'ipsec') return [];
  if (params['authMethod'] === 'cert') return wanted('/certificateID', certificateID);
  if (params['authMethod'] === 'manual') return wanted('/params/cipherKey', params['cipherKey']);
  return wanted('/params/psk', params['psk']);
};

const issueAt = (path: string, code: string, message: string, severity: Issue['severity'] = 'error'): Issue => ({
  path,
  code,
  message,
  severity,
});
