import { findPorts, type IpVersion, type PortSet } from '@rushhour/pools';
import type { HostStack, StackNetwork, Target } from '@rushhour/protocol';
import { endpointsOf } from '../core/load/traffic-entry.ts';
import type { PlanAgent } from '../core/plan-input.ts';
import { agentAt, type PlanScope, pointerIn } from '../core/plan-scope.ts';
import { serverStackOf } from '../stack/host-stack.ts';
import { gatewayStackOf } from '../stack/session-stack.ts';
import { frameHostsOf, hasAddresses, reportLoopback } from '../stack/stack-hosts.ts';
import type { AddressShare } from './address-share.ts';
import { isLoopback, ownAddresses, versionOf, wildcardOf } from './machine-addresses.ts';
import {
  type ClientSource,
  maxEndpoints,
  type NamedEndpoint,
  networkShare,
  type ResolvedTarget,
  resolveTarget,
} from './resolve-endpoint.ts';
import { endpointCountOf, maxRangeEndpoints, rangeTargets } from './target-ranges.ts';

/** Where an agent listens. */
export interface ListenEndpoint {
  readonly agentId: number;
  readonly host: string;
  readonly port: number;
  /** JSON pointer of the target that wants it. */
  readonly path: string;
  /** The emulated hosts it is on, by name; undefined: the kernel's addresses. */
  readonly group?: string;
  /** Their IP stack, where this entry describes it. */
  readonly stack?: HostStack;
  /** The network it is in, where frames of its hosts have MACs of their own. */
  readonly frames?: StackNetwork;
}

interface Found {
  readonly targets: Target[];
  /** Which of the named places each target belongs to. */
  readonly targetIndexes: number[];
  readonly listens: ListenEndpoint[];
  /** Which part of the load goes to which agent. */
  readonly parts: { readonly agentId: number; readonly part: number }[];
}

/** Engines take no weight of 0, which the tiniest would become when it is divided. */
const minWeight = 1e-12;

/** Ports of the target, else of its network, else those of the plugin. */
const portsAt = (scope: PlanScope, { endpoint, path }: NamedEndpoint, defaults: string): PortSet | undefined => {
  const ofNetwork = endpoint.network && scope.allocator.network(endpoint.network.id)?.ports;
  const text = endpoint.ports ?? (ofNetwork || defaults);
  const ports = findPorts(text);
  return ports ?? scope.issues.error(`${path}/ports`, 'PORTS_INVALID', `"${text}" has ports outside 1 to 65535`);
};

/** The places an entry names, and what a plugin names elsewhere. */
export const namedTargets = (scope: PlanScope, more: readonly NamedEndpoint[] = []): NamedEndpoint[] => {
  const { entry, demands } = scope;
  const named = endpointsOf(entry, 'targets').map((endpoint, i) => ({
    endpoint,
    path: pointerIn(scope, 'targets', i),
    ...(endpoint.agent && { user: demands.addressUserOf(entry, 'targets', i) }),
  }));
  const all = named.length > 0 ? named : [...more];
  if (all.length === 0) scope.issues.error(pointerIn(scope, 'targets'), 'NO_TARGET', 'names no target');
  return all;
};

/** Where a client sends from. */
interface ClientEnd {
  readonly client: PlanAgent;
  readonly source: ClientSource;
  /** It sends through access sessions. */
  readonly usesSessions: boolean;
  readonly defaultPorts: string;
  /** The engine takes ranges of addresses. */
  readonly takesRanges: boolean;
}

/** The targets of a client and where agents must listen for it. Undefined, with issues, when a target is not valid. */
export const targetsFor = (scope: PlanScope, named: readonly NamedEndpoint[], ends: ClientEnd): Found | undefined => {
  const found: Found = { targets: [], targetIndexes: [], listens: [], parts: [] };
  const total = named.reduce((sum, { endpoint }) => sum + endpoint.weight, 0);
  const all = named.map((one) => findTarget(scope, one, ends));
  const listed = all.reduce((sum, part) => sum + (part?.targets.length ?? 0), 0);
  const usesRanges = ends.takesRanges && listed > maxEndpoints;
  for (const [index, part] of all.entries()) {
    const targets = (usesRanges ? part?.ranges?.() : undefined) ?? part?.targets ?? [];
    for (const target of targets) found.targets.push(target);
    for (const _ of targets) found.targetIndexes.push(index);
    found.listens.push(...(part?.listens ?? []));
    const { agent, weight } = (named[index] as NamedEndpoint).endpoint;
    if (agent !== undefined) found.parts.push({ agentId: agent.id, part: weight / total });
  }
  if (found.targets.length > maxEndpoints || endpointCountOf(found.targets) > maxRangeEndpoints) {
    const max = ends.takesRanges
      ? `${maxRangeEndpoints} addresses and ports, or ${maxEndpoints} ranges of them`
      : `${maxEndpoints} addresses and ports`;
    const message = `more than ${max}; narrow the network by a pattern, or the ports`;
    return scope.issues.error(pointerIn(scope, 'targets'), 'TOO_MANY_TARGETS', message);
  }
  return named.length > 0 && all.every((part) => part !== undefined) ? found : undefined;
};

interface FoundTarget {
  readonly targets: Target[];
  /** The same in fewer pieces, where they are addresses of a network. */
  readonly ranges?: () => Target[] | undefined;
  readonly listens: ListenEndpoint[];
}

const findTarget = (scope: PlanScope, one: NamedEndpoint, ends: ClientEnd): FoundTarget | undefined => {
  const { client, source, usesSessions, defaultPorts } = ends;
  const { endpoint, path } = one;
  const server = endpoint.agent && agentAt(scope, endpoint.agent.id, path);
  if (endpoint.agent !== undefined && server === undefined) return undefined;
  const ports = portsAt(scope, one, defaultPorts);
  const reached = reachedAt(scope, one, { client, server, version: source.version, usesSessions });
  if (ports === undefined || reached === undefined) return undefined;
  const { share } = reached;
  const isValid =
    reached.hosts.filter((host) => !isValidHost(scope, host, one, source)).length === 0 &&
    isValidShare(scope, one, share);
  const weight = Math.max(minWeight, endpoint.weight / (reached.hosts.length * ports.size));
  const targets = hostPorts(reached.hosts, ports).map((hostPort) => ({ ...hostPort, weight }));
  const listens = server
    ? hostPorts(reached.binds, ports).map((hostPort) => ({ ...hostPort, agentId: server.id, path, ...reached.listen }))
    : [];
  const ranges = share && (() => rangeTargets(share, ports, endpoint.weight));
  return isValid ? { targets, listens, ...(ranges && { ranges }) } : undefined;
};

/** What is too large to be judged one by one is allowed as a whole, or not at all. */
const isValidShare = (
  { guard, issues }: PlanScope,
  { path }: NamedEndpoint,
  share: AddressShare | undefined,
): boolean => {
  if (share === undefined || share.size <= maxEndpoints || guard.allowsAll(share)) return true;
  issues.error(path, 'TARGET_NOT_ALLOWED', 'not all addresses of the network are among the allowed targets');
  return false;
};

/** The kernel of a machine answers ICMP to every sender: only a target with addresses of its own is emulated. */
const answersByKernel = ({ entry }: PlanScope, { endpoint: { ip, network } }: NamedEndpoint, server: PlanAgent) =>
  entry.plugin?.name === 'icmp' && (ip === undefined ? network === undefined : ownAddresses(server).has(ip));

type Reached = ResolvedTarget & { readonly listen?: Pick<ListenEndpoint, 'group' | 'stack' | 'frames'> };

/** Where the target is, and the emulated hosts that listen there, if they are some. */
const reachedAt = (
  scope: PlanScope,
  one: NamedEndpoint,
  ends: {
    client: PlanAgent | undefined;
    server: PlanAgent | undefined;
    version: IpVersion | undefined;
    usesSessions?: boolean;
  },
): Reached | undefined => {
  const { server, client } = ends;
  if (one.endpoint.accessGroup !== undefined) return behindGateway(scope, one, ends);
  const serverEntry = server && scope.demands.serverEntryOf(scope.entry, one.endpoint);
  const isKernel = server === undefined || answersByKernel(scope, one, server);
  const demand = serverEntry && !isKernel ? scope.demands.of(serverEntry) : undefined;
  if (server === undefined || demand === undefined) {
    const reached = resolveTarget(scope, one, ends);
    const isEmulated = ends.usesSessions === true || scope.stack !== undefined;
    const loopback = client && isEmulated ? reached?.hosts.find(isLoopback) : undefined;
    if (loopback !== undefined) return reportLoopback(scope, one, loopback);
    const frames = server && frameHostsOf(scope, one, one.endpoint.network && networkShare(scope, one));
    return reached && { ...reached, ...(frames && { listen: { frames } }) };
  }
  if (!hasAddresses(scope, { ...one, agent: server, demand })) return undefined;
  const reached = resolveTarget(scope, one, ends);
  if (reached === undefined) return undefined;
  const group = `${one.user} ${one.endpoint.ip ?? one.endpoint.network?.id}`;
  // Another entry that only answers describes the hosts itself.
  const stack = serverEntry === scope.entry ? serverStackOf(scope, one, server) : undefined;
  if (serverEntry === scope.entry && stack === undefined) return undefined;
  const wildcard = wildcardOf(versionOf(reached.hosts[0] ?? ''));
  return { ...reached, binds: [wildcard], listen: { group, ...(stack && { stack }) } };
};

/** A target that only the sessions of a gateway reach. */
const behindGateway = (
  scope: PlanScope,
  one: NamedEndpoint,
  {
    client,
    server,
    usesSessions,
  }: { client: PlanAgent | undefined; server: PlanAgent | undefined; usesSessions?: boolean },
): Reached | undefined => {
  const { endpoint, path } = one;
  if (server === undefined)
    return scope.issues.error(`${path}/agent`, 'NO_TARGET', 'a gateway is on an agent: name it');
  if (client !== undefined && usesSessions !== true) {
    const message = 'only access sessions reach a target behind a gateway: give the sources an access group';
    return scope.issues.error(`${path}/accessGroup`, 'NOT_SUPPORTED', message);
  }
  const isOwn = scope.demands.serverEntryOf(scope.entry, endpoint) === scope.entry;
  const stack = isOwn ? gatewayStackOf(scope, { ...one, agent: server }) : undefined;
  if (isOwn && stack === undefined) return undefined;
  const { ip = '' } = endpoint;
  const group = `gateway ${server.id} ${endpoint.accessGroup} ${ip}`;
  return { hosts: [ip], binds: [wildcardOf(versionOf(ip))], listen: { group, ...(stack && { stack }) } };
};

const isValidHost = (
  scope: PlanScope,
  host: string,
  { endpoint, path }: NamedEndpoint,
  source: ClientSource,
): boolean => {
  const { guard, issues } = scope;
  const isToAgent = endpoint.agent !== undefined && isLoopback(host);
  if (!isToAgent && !guard.allows(host)) {
    const message = `${host} is neither among the allowed targets nor a private address of an agent`;
    issues.error(path, 'TARGET_NOT_ALLOWED', message);
    return false;
  }
  if (source.version === undefined || source.version === versionOf(host)) return true;
  issues.error(path, 'IP_VERSION_MISMATCH', `${host} cannot be reached from IPv${source.version} addresses`);
  return false;
};

/** One more than allowed at most, so that too many are noticed. */
const hostPorts = (hosts: readonly string[], ports: PortSet) => {
  const found: { host: string; port: number }[] = [];
  for (const host of hosts) {
    for (let i = 0; i < ports.size && found.length <= maxEndpoints; i++) found.push({ host, port: ports.at(i) });
  }
  return found;
};

/** A server takes traffic for its address, so the same addresses are allowed as for targets. */
const mayListen = ({ guard, issues }: PlanScope, host: string, path: string): boolean => {
  if (isLoopback(host) || host === '0.0.0.0' || host === '::' || guard.allows(host)) return true;
  issues.error(path, 'TARGET_NOT_ALLOWED', `${host} is not among the allowed targets, so nothing may listen there`);
  return false;
};

/** Where the agents of an entry that only answers listen. */
export const listensFor = (scope: PlanScope, defaultPorts: string): ListenEndpoint[] =>
  namedTargets(scope).flatMap((one) => {
    const { endpoint, path } = one;
    if (endpoint.agent === undefined) {
      return scope.issues.error(`${path}/agent`, 'NO_TARGET', 'names no agent that could answer') ?? [];
    }
    const server = agentAt(scope, endpoint.agent.id, path);
    const ports = portsAt(scope, one, defaultPorts);
    if (server === undefined || ports === undefined) return [];
    const reached = reachedAt(scope, one, { client: undefined, server, version: undefined });
    const binds = (reached?.binds ?? []).filter((host) => mayListen(scope, host, path));
    return hostPorts(binds, ports).map((hostPort) => ({ ...hostPort, agentId: server.id, path, ...reached?.listen }));
  });

/** For people: the first, and how many more. */
export const labelOf = (endpoints: readonly { host: string; last?: string; port: number }[]): string => {
  const [first, ...rest] = endpoints;
  if (first === undefined) return '';
  const { host: from, last, port } = first;
  const host = last === undefined ? from : `${from}-${last}`;
  const text = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return rest.length === 0 ? text : `${text} and ${rest.length} more`;
};
