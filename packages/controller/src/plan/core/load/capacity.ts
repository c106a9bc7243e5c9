import type { Estimate } from '@rushhour/contract';
import { isLoopback } from '../../endpoints/machine-addresses.ts';
import { endpointCountOf } from '../../endpoints/target-ranges.ts';
import type { AgentPlan } from '../agent-plan.ts';
import type { PlannedAttempts } from '../attempt-files.ts';
import type { PlannedClient } from '../plan-entry.ts';
import type { PlanAgent, PlanInput } from '../plan-input.ts';
import type { PlanIssues } from '../plan-issues.ts';
import { durationSecOf, type TrafficEntry } from './traffic-entry.ts';
import { addEstimates, noTraffic, type TrafficEstimate } from './traffic-estimate.ts';

const recordHeaderBytes = 32;

interface EstimateFrom {
  readonly agents: readonly AgentPlan[];
  readonly plannedSec: number | null;
  readonly attempts: readonly PlannedAttempts[];
}

/** The size and load of a run, as far as it is known in advance. */
export const runEstimateOf = (
  { definition, dumpLimits }: PlanInput,
  clients: readonly PlannedClient[],
  { agents, plannedSec, attempts }: EstimateFrom,
): Estimate => {
  const { connections, txPps, rxPps, txBps, rxBps } = peakOf(clients);
  const pps = txPps + rxPps;
  const bps = txBps + rxBps;
  return {
    agents: agents.length,
    clientIps: clientIps(clients),
    connections,
    pps: Math.round(pps),
    bps: Math.round(bps),
    durationSec: plannedSec,
    dumpBytes: definition.dumps.enabled ? dumpBytes() : 0,
    attempts: attempts.reduce((sum, { count }) => sum + count, 0),
  };

  /** Both sides capture everything, up to what a run may store. */
  function dumpBytes(): number {
    const savelen = definition.dumps.savelen || dumpLimits.defaultSavelen;
    if (plannedSec === null || pps === 0) return dumpLimits.maxBytesPerRun;
    const kept = Math.min(savelen, bps / 8 / pps) + recordHeaderBytes;
    return Math.min(dumpLimits.maxBytesPerRun, Math.round(2 * pps * plannedSec * kept));
  }
};

/** An agent that is left the choice sends from one address. */
const clientIps = (clients: readonly PlannedClient[]): number => {
  const byAgent = new Map<string, number>();
  for (const { agent, source } of clients) {
    const key = `${agent.id} ${JSON.stringify(source.addresses)}`;
    byAgent.set(key, Math.max(1, source.count));
  }
  return [...byAgent.values()].reduce((sum, count) => sum + count, 0);
};

const timeWaitSec = 60;

/** Checks the load of machines and links, as far as it is known in advance. */
export const reportCapacity = (
  clients: readonly PlannedClient[],
  agents: ReadonlyMap<number, PlanAgent>,
  issues: PlanIssues,
): void => {
  for (const client of clients) reportConnections(client, issues);
  for (const agent of agents.values()) if (agent.maxBps > 0) reportBandwidth(agent, clients, issues);
};

const reportConnections = (client: PlannedClient, issues: PlanIssues): void => {
  const { agent, entry, path, estimate, source, portCount, targets } = client;
  const location = { path, agentId: agent.id };
  const tuples = Math.max(1, source.count) * portCount * endpointCountOf(targets);
  if (estimate.connections > tuples) {
    const message = `${estimate.connections} connections need more than the ${tuples} pairs of addresses and ports of agent ${agent.name}`;
    issues.error(location, 'RATE_IMPOSSIBLE', message);
    return;
  }
  // On loopback the system takes closed ones again at once.
  const isOutward = targets.some(({ host }) => !isLoopback(host));
  const keptSec = Math.min(timeWaitSec, durationSecOf(entry.values) ?? timeWaitSec);
  if (isOutward && estimate.opens * keptSec > tuples) {
    const rate = Math.round(estimate.opens);
    const message = `${rate} connections a second use up the ${tuples} pairs of addresses and ports of agent ${agent.name} within the minute that closed ones are kept`;
    issues.warning(location, 'PORTS_SCARCE', message);
  }
};

const isRunning = (entry: TrafficEntry, second: number): boolean =>
  entry.startAfterSec <= second &&
  second < entry.startAfterSec + (durationSecOf(entry.values) ?? Number.POSITIVE_INFINITY);

interface Timed {
  readonly entry: TrafficEntry;
  readonly estimate: TrafficEstimate;
}

/** The most at any one time: it is reached when some entry begins. */
export const peakOf = (all: readonly Timed[]): TrafficEstimate => {
  const starts = [...new Set(all.map(({ entry }) => entry.startAfterSec))];
  const sums = starts.map((start) =>
    addEstimates(all.filter(({ entry }) => isRunning(entry, start)).map(({ estimate }) => estimate)),
  );
  const maxOf = (name: keyof TrafficEstimate) => Math.max(0, ...sums.map((estimate) => estimate[name]));
  return {
    connections: maxOf('connections'),
    opens: maxOf('opens'),
    txPps: maxOf('txPps'),
    rxPps: maxOf('rxPps'),
    txBps: maxOf('txBps'),
    rxBps: maxOf('rxBps'),
  };
};

/** What an agent sends itself, and its part of what others send to it. */
const carriedBy = (agent: PlanAgent, { agent: { id }, entry, estimate, parts }: PlannedClient): Timed[] => {
  const received = parts.filter(({ agentId }) => agentId === agent.id).reduce((sum, { part }) => sum + part, 0);
  const mirrored = { ...noTraffic, txBps: estimate.rxBps * received, rxBps: estimate.txBps * received };
  return [...(id === agent.id ? [{ entry, estimate }] : []), ...(received > 0 ? [{ entry, estimate: mirrored }] : [])];
};

const reportBandwidth = (agent: PlanAgent, clients: readonly PlannedClient[], issues: PlanIssues): void => {
  const carried = clients.filter((client) => carriedBy(agent, client).length > 0);
  const { txBps, rxBps } = peakOf(carried.flatMap((client) => carriedBy(agent, client)));
  const bps = Math.round(Math.max(txBps, rxBps));
  if (bps <= agent.maxBps) return;
  const message = `agent ${agent.name} would carry about ${bps} bit/s; its limit is ${agent.maxBps}`;
  issues.error({ path: carried[0]?.path ?? '', agentId: agent.id }, 'RATE_IMPOSSIBLE', message);
};
