import { findPorts, type IpVersion, parseAddress } from '@rushhour/pools';
import type { Endpoint } from '../core/load/traffic-entry.ts';
import type { PlanAgent } from '../core/plan-input.ts';
import { type PlanScope, pointerIn } from '../core/plan-scope.ts';
import { type AddressShare, maxAddresses, type SourceAddresses } from './address-share.ts';
import {
  firstAddress,
  interfaceAddresses,
  isLoopback,
  isSameMachine,
  loopbackOf,
  ownAddresses,
  versionOf,
  wildcardOf,
} from './machine-addresses.ts';

/** Ports to send from; without a range the machine chooses. */
interface ClientPorts {
  readonly range: string | undefined;
  readonly count: number;
}

/** The ports Linux chooses from when nobody says which. */
const defaultPortCount = 60_999 - 32_768 + 1;

/** The range of the entry, else of the network of the source; undefined, with an issue, when it is no range. */
export const clientPorts = (scope: PlanScope, { network }: Endpoint): ClientPorts | undefined => {
  const given = scope.entry.values.clientPortRange;
  const ofNetwork = network && scope.allocator.network(network.id)?.ports;
  const text = given ?? ofNetwork ?? '';
  if (text === '') return { range: undefined, count: defaultPortCount };
  const found = findPorts(text);
  const [first, last] = found ? [found.at(0), found.at(found.size - 1)] : [0, 0];
  if (found !== undefined && last - first + 1 === found.size) return { range: `${first}-${last}`, count: found.size };
  if (given === undefined) {
    const message = `ports "${text}" are not one range: the machine chooses its ports`;
    scope.issues.caveat(pointerIn(scope, 'sources'), 'PORTS_NOT_ONE_RANGE', message);
    return { range: undefined, count: defaultPortCount };
  }
  return scope.issues.error(pointerIn(scope, 'clientPortRange'), 'PORTS_INVALID', `"${text}" is no range of ports`);
};

/** Most addresses and ports of an entry that are measured one by one, and most that kernel sockets listen on. */
export const maxEndpoints = 1024;

/** The version of addresses the entry asks for. */
export const wantedVersion = ({ entry }: PlanScope): IpVersion | undefined => entry.values.ipLayer?.version;

const reportMismatch = (scope: PlanScope, path: string, found: IpVersion): boolean => {
  const wanted = wantedVersion(scope);
  if (wanted === undefined || wanted === found) return false;
  scope.issues.error(path, 'IP_VERSION_MISMATCH', `is IPv${found}, but the entry is to use IPv${wanted}`);
  return true;
};

/** A source or target and how the task names it. */
export interface NamedEndpoint {
  readonly endpoint: Endpoint;
  /** JSON pointer. */
  readonly path: string;
  /** Who its share of a network belongs to; undefined without an agent. */
  readonly user?: string;
}

/** The share of its user, or the whole network without an agent; problems are reported as issues. */
export const networkShare = (scope: PlanScope, { endpoint, path, user }: NamedEndpoint): AddressShare | undefined => {
  const { allocator, issues } = scope;
  const { id } = endpoint.network as { id: number };
  const where = `${path}/network/id`;
  if (allocator.network(id) === undefined) return issues.error(where, 'NETWORK_UNKNOWN', `there is no network ${id}`);
  const problem = allocator.problemOf(id);
  if (problem !== undefined) return issues.error(where, 'NETWORK_EMPTY', problem);
  const share = user === undefined ? allocator.whole(id) : allocator.share(id, user);
  if (share === undefined) {
    const message = 'has fewer addresses than agents, or jobs on emulated hosts, that use it';
    return issues.error(where, 'NETWORK_EMPTY', message);
  }
  return reportMismatch(scope, where, share.version) ? undefined : share;
};

/** Addresses an agent sends from. Empty ones leave the choice to its machine. */
export interface ClientSource {
  readonly addresses: SourceAddresses;
  readonly count: number;
  readonly version: IpVersion | undefined;
  /** Where they are those of a network. */
  readonly network?: { readonly id: number; readonly share: AddressShare };
}

const listed = (addresses: string[]): ClientSource => ({
  addresses: { addresses, networks: [], ranges: [] },
  count: addresses.length,
  version: addresses[0] === undefined ? undefined : versionOf(addresses[0]),
});

const ranged = (first: string, last: string): ClientSource => ({
  addresses: { addresses: [], networks: [], ranges: [`${first}-${last}`] },
  count: Number(parseAddress(last).value - parseAddress(first).value) + 1,
  version: versionOf(first),
});

export const resolveSource = (scope: PlanScope, named: NamedEndpoint, agent: PlanAgent): ClientSource | undefined => {
  const { issues, allocator } = scope;
  const { endpoint, path } = named;
  if (endpoint.ip !== undefined) {
    if (reportMismatch(scope, `${path}/ip`, versionOf(endpoint.ip))) return undefined;
    return endpoint.lastIp === undefined ? listed([endpoint.ip]) : ranged(endpoint.ip, endpoint.lastIp);
  }
  if (endpoint.network !== undefined) {
    const share = networkShare(scope, named);
    if (share === undefined) return undefined;
    const { sources, count } = share.sources(allocator.network(endpoint.network.id)?.subnet ?? '');
    if (share.size > BigInt(count)) {
      const max = count < maxAddresses ? `${count}, because they are scattered` : count;
      issues.caveat(`${path}/network/id`, 'NETWORK_CUT', `agent ${agent.name} uses the first ${max} of its addresses`);
    }
    return { addresses: sources, count, version: share.version, network: { id: endpoint.network.id, share } };
  }
  if (endpoint.interfaceId === undefined) return listed([]);
  const found = interfaceAddresses(agent, endpoint.interfaceId, wantedVersion(scope) ?? 4);
  if (found !== undefined && found.length > 0) return listed(found);
  return reportInterface(scope, agent, { id: endpoint.interfaceId, path, isKnown: found !== undefined });
};

export const reportInterface = (
  { issues }: PlanScope,
  agent: PlanAgent,
  { id, path, isKnown }: { id: number; path: string; isKnown: boolean },
): undefined => {
  const location = { path: `${path}/interfaceId`, agentId: agent.id };
  if (isKnown)
    return issues.error(location, 'INTERFACE_EMPTY', `interface ${id} of agent ${agent.name} has no address`);
  return issues.error(location, 'INTERFACE_UNKNOWN', `agent ${agent.name} has no interface ${id}`);
};

/** Where a client finds a target, and where the agent there listens: on all addresses when they are not its own. */
export interface ResolvedTarget {
  /** One more than can be listed at most. */
  readonly hosts: readonly string[];
  /** Where they are those of a network. */
  readonly share?: AddressShare;
  readonly binds: readonly string[];
}

const listenAt = (address: string, server: PlanAgent | undefined): ResolvedTarget => {
  const isOwn = server === undefined || isLoopback(address) || ownAddresses(server).has(address);
  return { hosts: [address], binds: [isOwn ? address : wildcardOf(versionOf(address))] };
};

interface Ends {
  readonly client: PlanAgent | undefined;
  readonly server: PlanAgent | undefined;
  /** Of the addresses the client sends from. */
  readonly version: IpVersion | undefined;
}

/** Without a client the agent listens for any client. */
export const resolveTarget = (scope: PlanScope, named: NamedEndpoint, ends: Ends): ResolvedTarget | undefined => {
  const { client, server } = ends;
  const { endpoint, path } = named;
  if (endpoint.ip !== undefined) {
    return reportMismatch(scope, `${path}/ip`, versionOf(endpoint.ip)) ? undefined : listenAt(endpoint.ip, server);
  }
  if (endpoint.network !== undefined) {
    const share = networkShare(scope, named);
    const hosts = share?.hosts(maxEndpoints + 1);
    return share && hosts && { hosts, binds: hosts, share };
  }
  if (server === undefined) return scope.issues.error(path, 'NO_TARGET', 'names neither an agent nor an address');
  const version = wantedVersion(scope) ?? ends.version ?? 4;
  if (client !== undefined && isSameMachine(client, server)) return listenAt(loopbackOf(version), server);
  if (endpoint.interfaceId !== undefined) {
    const found = interfaceAddresses(server, endpoint.interfaceId, version);
    if (found?.[0] !== undefined) return listenAt(found[0], server);
    return reportInterface(scope, server, { id: endpoint.interfaceId, path, isKnown: found !== undefined });
  }
  if (client === undefined) return { hosts: [], binds: [wildcardOf(version)] };
  const address = firstAddress(server, version);
  if (address !== undefined) return listenAt(address, server);
  const where = { path: `${path}/agent/id`, agentId: server.id };
  return scope.issues.error(where, 'NO_ADDRESS', `agent ${server.name} has no IPv${version} address to send to`);
};
