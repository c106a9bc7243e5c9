import type { Leaf } from './leaf.ts';
import { versionOf } from './machine-addresses.ts';
import type { ServerWish } from './plan-entry.ts';
import type { PlanAgent } from './plan-input.ts';
import type { PlanIssues } from './plan-issues.ts';
import { type ListenPlace, labelOf } from './targets.ts';
import type { Traffic } from './traffic.ts';

/** One order of an agent that answers. */
export interface PlannedServer {
  readonly leaf: Leaf;
  readonly agent: PlanAgent;
  readonly traffic: Traffic;
  /** Without the places it listens on. */
  readonly config: object;
  readonly listens: ListenPlace[];
  /** The entries whose clients it answers. */
  readonly clients: Leaf[];
  /** JSON pointer of the target that wants it. */
  readonly path: string;
}

interface Listener {
  readonly wish: ServerWish;
  readonly config: object;
  readonly configKey: string;
  readonly isExplicit: boolean;
  readonly clients: Set<Leaf>;
  host: string;
}

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::';

/** `::` takes IPv4 as well. */
const covers = (a: string, b: string): boolean =>
  a === b || a === '::' || (a === '0.0.0.0' && versionOf(b) === 4 && b !== '::');

const isServerEntry = ({ leaf, traffic }: ServerWish): boolean =>
  traffic.client === undefined || leaf.values['isServer'] === true;

/** Machines, not agents, have ports: two agents on one machine may not listen on the same. */
const placeKey = ({ traffic, place }: ServerWish, agent: PlanAgent): string =>
  [agent.machineId || `agent ${agent.id}`, traffic.transport, place.port].join(' ');

/**
 * Brings together what entries want to listen. Entries that only answer come first; a client entry whose target such an
 * entry, or an equal server, listens for already needs none of its own.
 */
export const planServers = (
  wishes: readonly ServerWish[],
  agents: ReadonlyMap<number, PlanAgent>,
  issues: PlanIssues,
): PlannedServer[] => {
  const byPlace = new Map<string, Listener[]>();
  const configs = new Map<Traffic, object>();
  const ordered = [...wishes.filter(isServerEntry), ...wishes.filter((wish) => !isServerEntry(wish))];
  for (const wish of ordered) {
    const agent = agents.get(wish.place.agentId) as PlanAgent;
    const config = configs.get(wish.traffic) ?? wish.traffic.server().config;
    configs.set(wish.traffic, config);
    const isExplicit = isServerEntry(wish);
    const listener = {
      wish,
      config,
      configKey: JSON.stringify(config),
      isExplicit,
      clients: new Set(isExplicit ? [] : [wish.leaf]),
      host: wish.place.host,
    };
    const key = placeKey(wish, agent);
    byPlace.set(key, addListener(byPlace.get(key) ?? [], listener, issues));
  }
  return gather([...byPlace.values()].flat(), agents);
};

const addListener = (taken: Listener[], listener: Listener, issues: PlanIssues): Listener[] => {
  const meeting = taken.filter(({ host }) => covers(host, listener.host) || covers(listener.host, host));
  if (meeting.length === 0) return [...taken, listener];
  if (!meeting.every((other) => canShare(other, listener))) {
    tellConflict(meeting.find((other) => !canShare(other, listener)) as Listener, listener, issues);
    return taken;
  }
  const [first] = meeting as [Listener];
  for (const other of meeting) for (const leaf of other.clients) first.clients.add(leaf);
  for (const leaf of listener.clients) first.clients.add(leaf);
  if (isWildcard(listener.host)) first.host = listener.host;
  return taken.filter((other) => other === first || !covers(first.host, other.host));
};

const canShare = (one: Listener, other: Listener): boolean => {
  if (one.wish.place.agentId !== other.wish.place.agentId) return false;
  if (one.wish.traffic.engine !== other.wish.traffic.engine) return false;
  if (one.isExplicit) return !other.isExplicit && covers(one.host, other.host);
  return one.configKey === other.configKey;
};

const tellConflict = (one: Listener, { wish }: Listener, issues: PlanIssues): void => {
  const { host, port, agentId, path } = wish.place;
  const place = labelOf([{ host, port }]);
  const isSameAgent = one.wish.place.agentId === agentId;
  const other = isSameAgent ? one.wish.place.path : `agent ${one.wish.place.agentId} on the same machine`;
  const message = `${wish.traffic.transport} ${place} is taken by ${other}, which answers otherwise: give other ports`;
  issues.error({ path, agentId }, 'ADDRESS_OVERLAP', message);
};

/** One order for all the places where one entry listens in one way. */
const gather = (listeners: readonly Listener[], agents: ReadonlyMap<number, PlanAgent>): PlannedServer[] => {
  const servers = new Map<string, PlannedServer & { listens: ListenPlace[]; clients: Leaf[] }>();
  for (const { wish, config, configKey, clients, host } of listeners) {
    const { leaf, traffic, place } = wish;
    const key = `${leaf.path} ${place.agentId} ${configKey}`;
    const agent = agents.get(place.agentId) as PlanAgent;
    const server = servers.get(key) ?? { leaf, agent, traffic, config, listens: [], clients: [], path: place.path };
    servers.set(key, server);
    server.listens.push({ ...place, host });
    for (const client of clients) if (!server.clients.includes(client)) server.clients.push(client);
  }
  return [...servers.values()];
};
