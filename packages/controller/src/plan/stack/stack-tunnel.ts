import { createEndpointPairs, DraftError, type EndpointPair, findSubnet, parseAddress, shareOf } from '@rushhour/pools';
import type { AgentInterface, StackTunnel } from '@rushhour/protocol';
import { missingTunnel } from '../../assets/tunnels/tunnel-types.ts';
import { endpointsOf } from '../core/load/traffic-entry.ts';
import type { PlanAgent, PlanTunnel } from '../core/plan-input.ts';
import { type PlanScope, pointerIn } from '../core/plan-scope.ts';
import { ownAddresses } from '../endpoints/machine-addresses.ts';
import { ipsecSettingsOf } from './ipsec-settings.ts';
import { type EmulatedEndpoint, subnetOf } from './stack-hosts.ts';

/** Each end is an address of its own in the job. */
const maxEnds = 10_000;

/** Identifiers of the first tunnel; `<name>Step` is what each further one adds. */
const numbered = ['key', 'vni', 'sessionId', 'peerSessionId', 'teid', 'label'];

interface Named {
  readonly tunnel: PlanTunnel;
  readonly path: string;
}

interface TunnelSide {
  readonly side: 'client' | 'server';
  readonly through: AgentInterface;
}

/** The tunnels that carry the packets of a job, if the entry has some; undefined, with issues, when they cannot. */
export const tunnelOf = (
  scope: PlanScope,
  one: EmulatedEndpoint,
  { side, through }: TunnelSide,
): { tunnel?: StackTunnel } | undefined => {
  const named = namedTunnels(scope);
  if (named === undefined || named.length === 0) return named && {};
  const [first] = named;
  const pairs = pairsOf(scope, named);
  if (first === undefined || pairs === undefined || !hasOneServer(scope)) return undefined;
  const share = shareFor(scope, { one, side, count: pairs.length });
  if (share === undefined) return reportTooFew(scope, first, pairs.length);
  const isServer = side === 'server';
  const ends = pairs
    .slice(share.start, share.start + share.size)
    .map(({ client, server }) => (isServer ? { local: server, remote: client } : { local: client, remote: server }));
  const hosts = ascending(ends.map(({ local }) => local));
  if (!areEndsFree(scope, one.agent, { hosts, path: first.path }) || !areAllowed(scope, ends, first.path)) {
    return undefined;
  }
  const { mtu } = first.tunnel;
  if (!hasKeys(scope, first, { isServer }) || !hasKnownParams(scope, first)) return undefined;
  const type = first.tunnel.type as StackTunnel['type'];
  const outer = outerNetwork(scope, first, { through, hosts, ends });
  if (outer === undefined) return undefined;
  const limit = mtu ? { mtu } : {};
  const common = { type, isServer, ends, outer, ...limit };
  if (type !== 'ipsec') return { tunnel: { ...common, params: paramsOf(first.tunnel, share.start) } };
  const ipsec = ipsecSettingsOf(scope, { ...first, start: share.start });
  return ipsec && { tunnel: { ...common, params: headerParams(first.tunnel), ipsec } };
};

/** Where the outer addresses are: on the link of the interface, with the gateway of the record to all others. */
const outerNetwork = (
  { issues }: PlanScope,
  { tunnel, path }: Named,
  { through, hosts, ends }: { through: AgentInterface; hosts: string[]; ends: StackTunnel['ends'] },
): StackTunnel['outer'] | undefined => {
  const subnet = subnetOf(through, hosts);
  const gateway = tunnel.params['gateway'];
  if (typeof gateway === 'string' && gateway !== '') return { subnet, hosts, gateway };
  const link = findSubnet(subnet);
  const isNear = (address: string) => {
    const { version, value } = parseAddress(address);
    return link !== undefined && version === link.version && value >= link.first && value <= link.last;
  };
  const far = tunnel.type === 'mpls' ? undefined : ends.find(({ remote }) => !isNear(remote));
  if (far === undefined) return { subnet, hosts };
  const message = `"${tunnel.name}": ${far.remote} is not in ${subnet}, the network of ${through.name}: give params.gateway`;
  return issues.error(path, 'TUNNEL_NO_ROUTE', message);
};

/** Secrets of IPsec are in its settings only. */
const headerParams = ({ params }: PlanTunnel): StackTunnel['params'] =>
  Object.fromEntries(['ttl', 'dscp', 'df'].flatMap((name) => (name in params ? [[name, params[name]]] : [])));

const paramsOf = ({ type, params }: PlanTunnel, start: number): StackTunnel['params'] => ({
  ...paramsFrom(params, start),
  // Keys of further tunnels are derived from the first by their number.
  ...(type === 'wireguard' && { keyIndex: start }),
});

/** Members of `params` that change the inner MTU of a record, and that no agent sends. */
const hasKnownParams = ({ issues, entry }: PlanScope, { tunnel: { name, type, params }, path }: Named): boolean => {
  const unsent = ['encapLimit', ...(type === 'mpls' ? ['ethernet'] : [])].filter((member) => params[member] === true);
  for (const member of unsent) issues.error(path, 'NOT_SUPPORTED', `"${name}": agents cannot send params.${member}`);
  if (params['innerVlan'] !== true) return unsent.length === 0;
  const hasFrames = type !== 'mpls' && (type !== 'gre' || params['ethernet'] === true);
  const hasTag = (entry.values.ipLayer?.vlan ?? []).length > 0;
  if (!hasFrames)
    issues.error(path, 'NOT_SUPPORTED', `"${name}" carries no Ethernet frames, so params.innerVlan has no tag`);
  else if (!hasTag) issues.error(path, 'REQUIRED', `"${name}" has params.innerVlan: give the tag in ipLayer.vlan`);
  return unsent.length === 0 && hasFrames && hasTag;
};

/** Keys of WireGuard: one private key for both ends, or that of one end and the public key of a far end of others. */
const hasKeys = (scope: PlanScope, { tunnel, path }: Named, { isServer }: { isServer: boolean }): boolean => {
  const { type, params, name } = tunnel;
  if (type !== 'wireguard') return true;
  const refuse = (message: string) => {
    scope.issues.error(path, 'TUNNEL_KEYS_INVALID', `"${name}" ${message}`);
    return false;
  };
  if (!params['privateKey']) return refuse('has no private key');
  const isForeign = Boolean(params['peerPublicKey']);
  if (!isForeign || !isServer || scope.entry.values.isServer === true) return true;
  return refuse('names the public key of a far end whose private key no agent knows: leave peerPublicKey out');
};

/** Undefined when one of them is missing or of a type that no agent has. */
const namedTunnels = (scope: PlanScope): Named[] | undefined => {
  const { tunnelID, tunnelIDs = [] } = scope.entry.values;
  const ids = [
    ...(tunnelID === undefined ? [] : [{ id: tunnelID, path: pointerIn(scope, 'tunnelID') }]),
    ...tunnelIDs.map((id, i) => ({ id, path: pointerIn(scope, 'tunnelIDs', i) })).filter(({ id }) => id !== tunnelID),
  ];
  if (!isComplete(scope, ids.length)) return undefined;
  const named = ids.flatMap(({ id, path }) => {
    const tunnel = scope.input.tunnels.get(id);
    return tunnel ? [{ tunnel, path }] : (scope.issues.error(path, 'TUNNEL_UNKNOWN', `there is no tunnel ${id}`) ?? []);
  });
  const problems = named.filter((one) => !isUsable(scope, one, named[0]));
  return named.length < ids.length || problems.length > 0 ? undefined : named;
};

/** Ends without a tunnel, or for several, say nothing. */
const isComplete = (scope: PlanScope, count: number): boolean => {
  const member = (['tunnelClientIp', 'tunnelServerIp', 'tunnelEndpoints'] as const).find(
    (name) => scope.entry.values[name] !== undefined,
  );
  if (member === undefined || count === 1) return true;
  const message = count === 0 ? 'needs a tunnel: give tunnelID' : 'can be given for one tunnel only, not for several';
  scope.issues.error(pointerIn(scope, member), count === 0 ? 'REQUIRED' : 'NOT_SUPPORTED', message);
  return false;
};

const isUsable = ({ issues }: PlanScope, { tunnel, path }: Named, first: Named | undefined): boolean => {
  const missing = missingTunnel(tunnel.type);
  if (missing !== undefined) {
    issues.error(path, 'TUNNEL_UNAVAILABLE', `"${tunnel.name}" is of type ${tunnel.type}: ${missing}`);
    return false;
  }
  const isLike = (other: PlanTunnel) =>
    other.type === tunnel.type &&
    JSON.stringify([other.params, other.certificate]) === JSON.stringify([tunnel.params, tunnel.certificate]);
  if (first === undefined || isLike(first.tunnel)) return true;
  const message = `"${tunnel.name}" differs from "${first.tunnel.name}" in type or parameters: give each an entry of its own`;
  issues.error(path, 'TUNNELS_DIFFER', message);
  return false;
};

/** The ends of all tunnels; those of the entry replace those of the record. */
const pairsOf = (scope: PlanScope, named: readonly Named[]): EndpointPair[] | undefined => {
  const { tunnelClientIp, tunnelServerIp, tunnelEndpoints } = scope.entry.values;
  const hasSingleEnd = tunnelClientIp !== undefined || tunnelServerIp !== undefined;
  const pairs: EndpointPair[] = [];
  for (const { tunnel, path } of named) {
    const found = findPairs({
      endpoints: tunnelEndpoints ?? (hasSingleEnd ? '' : tunnel.endpoints),
      clientIp: tunnelClientIp ?? tunnel.clientIp,
      serverIp: tunnelServerIp ?? tunnel.serverIp,
      count: tunnel.count,
    });
    if (typeof found === 'string') return scope.issues.error(path, 'TUNNEL_ENDS_INVALID', found);
    if (found.count + BigInt(pairs.length) > BigInt(maxEnds)) {
      return scope.issues.error(path, 'TUNNEL_TOO_MANY', `more than ${maxEnds} tunnels for one entry`);
    }
    pairs.push(...found.first(maxEnds));
  }
  return pairs;
};

const findPairs = (ends: Parameters<typeof createEndpointPairs>[0]) => {
  try {
    return createEndpointPairs(ends);
  } catch (error) {
    if (error instanceof DraftError) return error.message;
    throw error;
  }
};

/** A tunnel ends at one address, which one agent has. */
const hasOneServer = (scope: PlanScope): boolean => {
  const agents = new Set(endpointsOf(scope.entry, 'targets').flatMap(({ agent }) => agent?.id ?? []));
  if (agents.size <= 1) return true;
  const message = 'the far end of a tunnel is one agent: give each agent an entry with a tunnel of its own';
  scope.issues.error(pointerIn(scope, 'targets'), 'NOT_SUPPORTED', message);
  return false;
};

/** Every source has tunnels of its own; the server has those of all sources of its entry. */
const shareFor = (
  { entry, demands }: PlanScope,
  { one, side, count }: { one: EmulatedEndpoint; side: 'client' | 'server'; count: number },
): { start: number; size: number } | undefined => {
  const users = demands.tunnelUsersOf(entry);
  const own = side === 'client' ? [one.path] : users.filter((user) => user.startsWith(`${entry.path}/values/`));
  if (own.length === 0) return { start: 0, size: count };
  const shares = own.map((user) => shareOf(BigInt(count), users.indexOf(user), users.length));
  if (shares.some(({ size }) => size === 0n)) return undefined;
  const size = shares.reduce((sum, share) => sum + Number(share.size), 0);
  return { start: Number(shares[0]?.start ?? 0n), size };
};

const reportTooFew = ({ issues }: PlanScope, { tunnel, path }: Named, count: number): undefined => {
  const message = `"${tunnel.name}" has ${count} pairs of ends, fewer than the sources that use it: each needs one of its own`;
  return issues.error(path, 'TUNNEL_TOO_FEW_ENDS', message);
};

const ascending = (addresses: readonly string[]): string[] => {
  const values = new Map([...new Set(addresses)].map((address) => [address, parseAddress(address).value]));
  return [...values].sort(([, a], [, b]) => (a < b ? -1 : 1)).map(([address]) => address);
};

/** The kernel would refuse what arrives at its own address. */
const areEndsFree = (
  { issues }: PlanScope,
  agent: PlanAgent,
  { hosts, path }: { hosts: readonly string[]; path: string },
): boolean => {
  const own = ownAddresses(agent);
  const taken = hosts.find((host) => own.has(host));
  if (taken === undefined) return true;
  const message = `${taken} is an address of the machine of agent ${agent.name}: ends of tunnels need addresses of their own`;
  issues.error({ path, agentId: agent.id }, 'TUNNEL_ENDS_INVALID', message);
  return false;
};

const areAllowed = ({ guard, issues }: PlanScope, ends: StackTunnel['ends'], path: string): boolean => {
  const outside = ends.find(({ remote }) => !guard.allows(remote));
  if (outside === undefined) return true;
  const message = `${outside.remote} is neither among the allowed targets nor an address of an agent`;
  issues.error(path, 'TARGET_NOT_ALLOWED', message);
  return false;
};

/** Parameters of tunnels from the n-th on. */
const paramsFrom = (params: PlanTunnel['params'], start: number): StackTunnel['params'] => {
  const moved = numbered.flatMap((name) => {
    const [first, step = 1] = [params[name], params[`${name}Step`]];
    return typeof first === 'number' && start > 0 ? [[name, first + start * Number(step)] as const] : [];
  });
  return { ...params, ...Object.fromEntries(moved) };
};
