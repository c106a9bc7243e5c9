import { isLoopback } from '../endpoints/machine-addresses.ts';
import { addFigures, type Figures, noFigures } from './figures.ts';
import { type Leaf, lengthOf } from './leaf.ts';
import type { PlannedClient } from './plan-entry.ts';
import type { PlanAgent } from './plan-input.ts';
import type { PlanIssues } from './plan-issues.ts';

const timeWaitSec = 60;

/** What is asked of machines and their links, as far as it can be told beforehand. */
export const tellCapacity = (
  clients: readonly PlannedClient[],
  agents: ReadonlyMap<number, PlanAgent>,
  issues: PlanIssues,
): void => {
  for (const client of clients) tellConnections(client, issues);
  for (const agent of agents.values()) if (agent.maxBps > 0) tellBandwidth(agent, clients, issues);
};

const tellConnections = (client: PlannedClient, issues: PlanIssues): void => {
  const { agent, leaf, path, figures, source, portCount, targets } = client;
  const place = { path, agentId: agent.id };
  const tuples = Math.max(1, source.count) * portCount * targets.length;
  if (figures.connections > tuples) {
    const message = `${figures.connections} connections need more than the ${tuples} pairs of addresses and ports of agent ${agent.name}`;
    issues.error(place, 'RATE_IMPOSSIBLE', message);
    return;
  }
  // On loopback the system takes closed ones again at once.
  const isOutward = targets.some(({ host }) => !isLoopback(host));
  const keptSec = Math.min(timeWaitSec, lengthOf(leaf.values) ?? timeWaitSec);
  if (isOutward && figures.opens * keptSec > tuples) {
    const rate = Math.round(figures.opens);
    const message = `${rate} connections a second use up the ${tuples} pairs of addresses and ports of agent ${agent.name} within the minute that closed ones are kept`;
    issues.warning(place, 'PORTS_SCARCE', message);
  }
};

const isUnderWay = (leaf: Leaf, second: number): boolean =>
  leaf.startAfterSec <= second && second < leaf.startAfterSec + (lengthOf(leaf.values) ?? Number.POSITIVE_INFINITY);

interface Timed {
  readonly leaf: Leaf;
  readonly figures: Figures;
}

/** The most at any one time: it is reached when some entry begins. */
export const peakOf = (all: readonly Timed[]): Figures => {
  const moments = [...new Set(all.map(({ leaf }) => leaf.startAfterSec))];
  const sums = moments.map((moment) =>
    addFigures(all.filter(({ leaf }) => isUnderWay(leaf, moment)).map(({ figures }) => figures)),
  );
  const most = (name: keyof Figures) => Math.max(0, ...sums.map((figures) => figures[name]));
  return {
    connections: most('connections'),
    opens: most('opens'),
    txPps: most('txPps'),
    rxPps: most('rxPps'),
    txBps: most('txBps'),
    rxBps: most('rxBps'),
  };
};

/** What an agent sends itself, and its part of what others send to it. */
const carriedBy = (agent: PlanAgent, { agent: { id }, leaf, figures, parts }: PlannedClient): Timed[] => {
  const received = parts.filter(({ agentId }) => agentId === agent.id).reduce((sum, { part }) => sum + part, 0);
  const mirrored = { ...noFigures, txBps: figures.rxBps * received, rxBps: figures.txBps * received };
  return [...(id === agent.id ? [{ leaf, figures }] : []), ...(received > 0 ? [{ leaf, figures: mirrored }] : [])];
};

const tellBandwidth = (agent: PlanAgent, clients: readonly PlannedClient[], issues: PlanIssues): void => {
  const carried = clients.filter((client) => carriedBy(agent, client).length > 0);
  const { txBps, rxBps } = peakOf(carried.flatMap((client) => carriedBy(agent, client)));
  const bps = Math.round(Math.max(txBps, rxBps));
  if (bps <= agent.maxBps) return;
  const message = `agent ${agent.name} would carry about ${bps} bit/s; its limit is ${agent.maxBps}`;
  issues.error({ path: carried[0]?.path ?? '', agentId: agent.id }, 'RATE_IMPOSSIBLE', message);
};
