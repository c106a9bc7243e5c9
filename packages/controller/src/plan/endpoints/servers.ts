import type { HostStack } from '@rushhour/protocol';
import type { Traffic } from '../core/load/traffic.ts';
import type { TrafficEntry } from '../core/load/traffic-entry.ts';
import type { ListenRequest } from '../core/plan-entry.ts';
import type { PlanAgent } from '../core/plan-input.ts';
import type { PlanIssues } from '../core/plan-issues.ts';
import { versionOf } from './machine-addresses.ts';
import { type ListenEndpoint, labelOf } from './targets.ts';

/** One order of an agent that answers. */
export interface PlannedServer {
  readonly entry: TrafficEntry;
  readonly agent: PlanAgent;
  readonly traffic: Traffic;
  /** Without the places it listens on. */
  readonly config: object;
  readonly listens: ListenEndpoint[];
  /** The stack that has its addresses; undefined: kernel sockets. */
  readonly stack?: HostStack;
  /** The entries whose clients it answers. */
  readonly clients: ReadonlySet<TrafficEntry>;
  /** JSON pointer of the target that wants it. */
  readonly path: string;
}

interface Listener {
  readonly request: ListenRequest;
  readonly config: object;
  /** The same for servers that answer in the same way. */
  readonly configKey: string;
  readonly isExplicit: boolean;
  readonly clients: Set<TrafficEntry>;
  readonly host: string;
}

/** What listens on one port, by address. */
type Port = Map<string, Listener>;

const wildcards = ['0.0.0.0', '::'];

/** `::` takes IPv4 as well. */
const covers = (a: string, b: string): boolean =>
  a === b || a === '::' || (a === '0.0.0.0' && versionOf(b) === 4 && b !== '::');

const isServerEntry = ({ entry, traffic }: ListenRequest): boolean =>
  traffic.client === undefined || entry.values.isServer === true;

/** Machines, not agents, have ports: two agents on one machine may not listen on the same. Emulated hosts have their own. */
const portKey = ({ traffic, endpoint }: ListenRequest, agent: PlanAgent): string => {
  const machine = agent.machineId || `agent ${agent.id}`;
  return [endpoint.group === undefined ? machine : `hosts ${endpoint.group}`, traffic.transport, endpoint.port].join(
    ' ',
  );
};

/**
 * Brings together what entries want to listen. Entries that only answer come first; a client entry whose target such an
 * entry, or an equal server, listens for already needs none of its own.
 */
export const planServers = (
  requests: readonly ListenRequest[],
  agents: ReadonlyMap<number, PlanAgent>,
  issues: PlanIssues,
): PlannedServer[] => {
  const ports = new Map<string, Port>();
  const configs = new Map<Traffic, Pick<Listener, 'config' | 'configKey'>>();
  const configOf = (traffic: Traffic) => {
    const { config } = traffic.server();
    return { config, configKey: JSON.stringify(config) };
  };
  const ordered = [...requests.filter(isServerEntry), ...requests.filter((request) => !isServerEntry(request))];
  for (const request of ordered) {
    const made = configs.get(request.traffic) ?? configOf(request.traffic);
    configs.set(request.traffic, made);
    const isExplicit = isServerEntry(request);
    const clients = new Set(isExplicit ? [] : [request.entry]);
    const key = portKey(request, agents.get(request.endpoint.agentId) as PlanAgent);
    const port = ports.get(key) ?? new Map();
    ports.set(key, port);
    addListener(port, { request, ...made, isExplicit, clients, host: request.endpoint.host }, issues);
  }
  return gather(
    [...ports.values()].flatMap((port) => [...port.values()]),
    agents,
  );
};

/** Those that would take the same packets. */
const meeting = (port: Port, host: string): Listener[] => {
  if (wildcards.includes(host))
    return [...port.values()].filter((other) => covers(host, other.host) || covers(other.host, host));
  return [host, ...wildcards].flatMap((taken) => (covers(taken, host) ? (port.get(taken) ?? []) : []));
};

const addListener = (port: Port, listener: Listener, issues: PlanIssues): void => {
  const others = meeting(port, listener.host);
  const foe = others.find((other) => !canShare(other, listener));
  if (foe !== undefined) {
    reportConflict(foe, listener, issues);
    return;
  }
  const [first = listener] = others;
  const host = wildcards.includes(listener.host) ? listener.host : first.host;
  for (const other of others) port.delete(other.host);
  const clients = new Set([...others.flatMap((other) => [...other.clients]), ...listener.clients]);
  port.set(host, { ...first, host, clients });
};

const canShare = (one: Listener, other: Listener): boolean => {
  if (one.request.endpoint.agentId !== other.request.endpoint.agentId) return false;
  if (one.request.traffic.engine !== other.request.traffic.engine) return false;
  // What an entry that only answers says holds for the clients it answers, whatever they say themselves.
  if (one.isExplicit && !other.isExplicit) return covers(one.host, other.host);
  return one.configKey === other.configKey;
};

const reportConflict = (one: Listener, { request }: Listener, issues: PlanIssues): void => {
  const { host, port, agentId, path } = request.endpoint;
  const endpoint = labelOf([{ host, port }]);
  const isSameAgent = one.request.endpoint.agentId === agentId;
  const other = isSameAgent ? one.request.endpoint.path : `agent ${one.request.endpoint.agentId} on the same machine`;
  const message = `${request.traffic.transport} ${endpoint} is taken by ${other}, which answers otherwise: give other ports`;
  issues.error({ path, agentId }, 'ADDRESS_OVERLAP', message);
};

/** One job for everything that one entry listens on at one agent; on emulated hosts, at one interface of it. */
const gather = (listeners: readonly Listener[], agents: ReadonlyMap<number, PlanAgent>): PlannedServer[] => {
  const servers = new Map<string, PlannedServer & { clients: Set<TrafficEntry> }>();
  for (const { request, config, clients, host } of listeners) {
    const { entry, traffic, endpoint } = request;
    const key = `${entry.path} ${endpoint.agentId} ${endpoint.stack?.interface ?? ''}`;
    const agent = agents.get(endpoint.agentId) as PlanAgent;
    const before = servers.get(key) ?? {
      entry,
      agent,
      traffic,
      config,
      listens: [],
      clients: new Set(),
      path: endpoint.path,
    };
    const server = endpoint.stack === undefined ? before : { ...before, stack: joined(before.stack, endpoint.stack) };
    servers.set(key, server);
    // All emulated hosts of a job listen on the same ports.
    const isListed = endpoint.stack !== undefined && server.listens.some(isSame({ host, port: endpoint.port }));
    if (!isListed) server.listens.push({ ...endpoint, host });
    for (const client of clients) server.clients.add(client);
  }
  return [...servers.values()];
};

const isSame =
  ({ host, port }: Pick<ListenEndpoint, 'host' | 'port'>) =>
  (other: ListenEndpoint): boolean =>
    other.host === host && other.port === port;

/** One entry describes all its stacks alike: they differ in their hosts only. */
const joined = (one: HostStack | undefined, other: HostStack): HostStack => {
  if (one === undefined) return other;
  const known = new Set(one.networks.map(hostsKey));
  return { ...one, networks: [...one.networks, ...other.networks.filter((network) => !known.has(hostsKey(network)))] };
};

const hostsKey = ({ subnet, hosts }: HostStack['networks'][number]): string => [subnet, ...hosts].join(' ');
