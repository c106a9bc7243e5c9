import type { Duration, HostStack, Sources, StackNetwork, Target } from '@rushhour/protocol';
import { type ClientSource, clientPorts, resolveSource } from '../endpoints/resolve-endpoint.ts';
import { endpointCountOf } from '../endpoints/target-ranges.ts';
import { type ListenEndpoint, listensFor, namedTargets, targetsFor } from '../endpoints/targets.ts';
import { clientStackOf } from '../stack/host-stack.ts';
import { sessionSenderOf } from '../stack/session-stack.ts';
import { frameHostsOf, hasAddresses } from '../stack/stack-hosts.ts';
import { activeWeights, Shares } from './load/divide.ts';
import { clientDuration } from './load/durations.ts';
import type { ClientDraft, ClientPart, Traffic } from './load/traffic.ts';
import { type Endpoint, endpointsOf, type TrafficEntry } from './load/traffic-entry.ts';
import type { PlanAgent } from './plan-input.ts';
import { agentAt, type PlanScope, pointerIn } from './plan-scope.ts';

/** One agent that sends. */
export interface PlannedClient extends ClientDraft {
  readonly entry: TrafficEntry;
  readonly agent: PlanAgent;
  /** JSON pointer of the source. */
  readonly path: string;
  readonly engine: string;
  readonly share: number;
  readonly duration: Duration;
  readonly targets: readonly Target[];
  /** Which part of its load goes to which agent. */
  readonly parts: readonly { readonly agentId: number; readonly part: number }[];
  readonly source: ClientSource;
  /** The stack that has its addresses; undefined: kernel sockets. */
  readonly stack?: HostStack;
  /** How many ports it may send from. */
  readonly portCount: number;
}

/** Something that an entry wants to listen somewhere. */
export interface ListenRequest {
  readonly entry: TrafficEntry;
  readonly traffic: Traffic;
  readonly endpoint: ListenEndpoint;
}

export interface PlannedEntry {
  readonly clients: readonly PlannedClient[];
  readonly requests: readonly ListenRequest[];
}

/** The two sides of one entry. */
export const planEntry = (scope: PlanScope, traffic: Traffic): PlannedEntry => {
  const { entry } = scope;
  const request = (endpoint: ListenEndpoint): ListenRequest => ({ entry, traffic, endpoint });
  const { client } = traffic;
  if (client === undefined || entry.values.isServer === true) {
    return { clients: [], requests: listensFor(scope, traffic.defaultPorts).map(request) };
  }
  const sources = endpointsOf(entry, 'sources');
  if (sources.length === 0) scope.issues.error(pointerIn(scope, 'sources'), 'NO_SOURCE', 'names no agent that sends');
  const named = traffic.needsTargets === false ? [] : namedTargets(scope, traffic.extraTargets);
  const shares = new Shares(weightsOf(scope, traffic, sources));
  const planned = sources.flatMap((endpoint, index) => {
    const work = { scope, traffic, client, named, shares, endpoint, index };
    return planClient(work) ?? [];
  });
  return {
    clients: planned.map((one) => one.client),
    requests: planned.flatMap(({ listens }) => listens.map(request)),
  };
};

const noTargets: ReturnType<typeof targetsFor> = { targets: [], targetIndexes: [], listens: [], parts: [] };

interface ClientWork {
  readonly scope: PlanScope;
  readonly traffic: Traffic;
  readonly client: (part: ClientPart) => ClientDraft;
  readonly named: ReturnType<typeof namedTargets>;
  readonly shares: Shares;
  readonly endpoint: Endpoint;
  readonly index: number;
}

const weightsOf = (
  { entry }: PlanScope,
  { rates = [], totals = [] }: Traffic,
  sources: readonly Endpoint[],
): number[] => {
  const { mode, count } = entry.values.duration;
  const given = (wholes: readonly (number | undefined)[]) => wholes.filter((whole) => whole !== undefined);
  return activeWeights(
    sources.map(({ weight }) => weight),
    { rates: given(rates), totals: given([...totals, mode === 'count' ? count : undefined]) },
  );
};

const planClient = (work: ClientWork): { client: PlannedClient; listens: ListenEndpoint[] } | undefined => {
  const { scope, traffic, client, named, shares, endpoint, index } = work;
  const path = pointerIn(scope, 'sources', index);
  const agent = agentAt(scope, endpoint.agent?.id ?? 0, path);
  const sender = agent && senderOf(scope, agent, { endpoint, path, index, named });
  const ports = clientPorts(scope, endpoint);
  if (agent === undefined || sender === undefined || ports === undefined) return undefined;
  const { source } = sender;
  if (!scope.budget.takeClient(named.length)) return reportTooLarge(scope);
  const usesSessions = endpoint.accessGroup !== undefined;
  const found =
    traffic.needsTargets === false
      ? noTargets
      : targetsFor(scope, named, {
          client: agent,
          source,
          usesSessions,
          defaultPorts: traffic.defaultPorts,
          takesRanges: traffic.takesRanges ?? false,
        });
  if (found === undefined) return undefined;
  if (!scope.budget.takeTargets(found.targets.length - named.length)) return reportTooLarge(scope);
  if (shares.weightAt(index) === 0) {
    scope.issues.caveat({ path, agentId: agent.id }, 'NOTHING_TO_DO', `agent ${agent.name} gets no share of the load`);
    return undefined;
  }
  const through = agent.interfaces.find(({ id }) => id === endpoint.interfaceId)?.name;
  const hosts = frameHostsOf(scope, { endpoint, path }, source.network?.share);
  const part = partOf(scope, { shares, index, found, source, portRange: ports.range, agent, through, hosts });
  const planned = {
    ...client(part),
    entry: scope.entry,
    agent,
    path,
    engine: traffic.engine,
    share: shares.weightAt(index) / shares.total,
    duration: clientDuration(scope.entry, Math.max(1, part.whole(scope.entry.values.duration.count ?? 1))),
    targets: found.targets,
    parts: found.parts,
    ...sender,
    portCount: ports.count,
  };
  return { client: planned, listens: found.listens };
};

/** The addresses a client sends from, and the stack that has them if the entry runs on one. */
const senderOf = (
  scope: PlanScope,
  agent: PlanAgent,
  { endpoint, path, index, named: targets }: Pick<ClientWork, 'endpoint' | 'index' | 'named'> & { path: string },
): Pick<PlannedClient, 'source' | 'stack'> | undefined => {
  if (endpoint.accessGroup !== undefined) {
    // Sessions may have addresses of both versions: the targets decide.
    const isIpv6 = targets.length > 0 && targets.every((one) => one.endpoint.ip?.includes(':'));
    return sessionSenderOf(scope, { endpoint, path, agent }, isIpv6 ? 6 : 4);
  }
  const { entry, demands, stack: demand } = scope;
  const named = { endpoint, path, agent, user: demands.addressUserOf(entry, 'sources', index) };
  if (demand !== undefined && !hasAddresses(scope, { ...named, demand })) return undefined;
  const source = resolveSource(scope, named, agent);
  if (source === undefined || demand === undefined) return source && { source };
  const stack = clientStackOf(scope, named, source);
  return stack && { source, stack };
};

const reportTooLarge = (scope: PlanScope): undefined =>
  scope.issues.error('/configuration', 'PLAN_TOO_LARGE', 'has too many sources and targets for one run');

interface PartOptions {
  readonly shares: Shares;
  readonly index: number;
  readonly found: Pick<ClientPart, 'targets' | 'targetIndexes'>;
  readonly source: ClientSource;
  readonly portRange: string | undefined;
  readonly agent: PlanAgent;
  /** Name of the interface of the source. */
  readonly through: string | undefined;
  readonly hosts: StackNetwork | undefined;
}

const partOf = (scope: PlanScope, options: PartOptions): ClientPart => {
  const { shares, index, found, source, portRange, agent, through, hosts } = options;
  const { entry, issues } = scope;
  const rotation = entry.values.rotationMode ?? 'roundRobin';
  const srcMode = entry.values.ipLayer?.srcMode;
  const sources: Sources = {
    ...source.addresses,
    rotation: srcMode === 'random' ? 'random' : srcMode === 'fixed' ? 'sticky' : rotation,
    ...(portRange !== undefined && { portRange }),
  };
  return {
    targets: found.targets,
    targetCount: endpointCountOf(found.targets),
    targetIndexes: found.targetIndexes,
    sources,
    sourceCount: source.count,
    rotation,
    ...(hosts !== undefined && { hosts: [hosts] }),
    ...(through !== undefined && { interface: through }),
    position: { index: shares.busyBefore(index), count: shares.busyCount },
    rate: (whole) => (whole === undefined ? undefined : shares.rate(whole, index)),
    whole: (whole) => shares.whole(whole, index),
    offset: (whole) => shares.offset(whole, index),
    concurrentShare: (whole, max) => {
      const part = Math.max(1, shares.whole(whole, index));
      if (part <= max) return part;
      const message = `agent ${agent.name} would keep ${part} connections open; ${max} is the maximum`;
      issues.error({ path: pointerIn(scope, 'sources', index), agentId: agent.id }, 'RATE_IMPOSSIBLE', message);
      return max;
    },
  };
};
