import { isActive, runStatus } from '@rushhour/contract';
import { createMutex, type Mutex } from '../../concurrency/mutex.ts';
import type { Executor } from '../../store/engine/database.ts';
import { runAgentsOf } from '../../store/runs/run-agents.ts';
import { runStatuses } from '../../store/runs/run-history.ts';
import { everyAgent } from '../../store/runs/samples.ts';
import { noTarget } from '../ingest/name-book.ts';
import type { OpenRun } from '../ingest/open-run.ts';
import { otherGroup, type Side } from './run-facts.ts';
import { type Measured, scanMerged } from './scan.ts';

/** A packet that was sent this many seconds ago and has not been accounted for is lost, unless it still arrives. */
const graceSec = 2;

/** Packets of one direction by second; index 0 is second 1. */
export interface Traffic {
  readonly sent: readonly number[];
  readonly received: readonly number[];
  /** Gaps in the sequence, counted by the receiver when a later packet arrives. */
  readonly lost: readonly number[];
  /** The run has ended: packets in transit will not arrive any more. */
  readonly isEnded: boolean;
  /** Count a loss in the second in which it became known, for displays that never read a second again. */
  readonly isLive?: boolean;
}

const at = (values: readonly number[], index: number) => values[index] ?? 0;

const totalsOf = (values: readonly number[], length: number): number[] => {
  let total = 0;
  return Array.from({ length }, (_, index) => (total += at(values, index)));
};

/**
 * What must be added to the gaps counted by a receiver, so that packets are lost when they were sent and did not arrive:
 * also during silence, and at the end, where no later packet reveals the gap. Losses count in the second of sending.
 */
export const lossCorrections = ({ sent, received, lost, isEnded, isLive = false }: Traffic): number[] => {
  const length = received.length;
  const sentSoFar = totalsOf(sent, length + 1);
  const arrived = totalsOf(received, length);
  const gaps = totalsOf(lost, length);
  const corrections = new Array<number>(length).fill(0);
  let before = 0;
  const account = (now: number, unaccounted: number) => {
    const second = unaccounted > before && !isLive ? now - graceSec : now;
    const index = Math.min(length - 1, Math.max(0, second));
    corrections[index] = at(corrections, index) + unaccounted - before;
    before = unaccounted;
  };
  for (let now = 0; now < length; now += 1) {
    account(now, Math.max(0, at(sentSoFar, now - graceSec) - at(arrived, now) - at(gaps, now)));
  }
  if (!isEnded || length === 0) return corrections;
  // The last summary of the sender may lie one second after that of the receiver.
  const [allArrived, allGaps] = [at(arrived, length - 1), at(gaps, length - 1)];
  for (let now = length; now <= length + graceSec; now += 1) {
    account(now, Math.max(before, at(sentSoFar, Math.min(length, now - graceSec)) - allArrived - allGaps));
  }
  const allSent = at(sentSoFar, length);
  if (allSent >= allArrived) account(length - 1, allSent - allArrived - allGaps);
  return corrections;
};

/** Time without packets, from the number of lost ones and the rate of sending: the same for one flow and for many. */
export const lossDurations = (sent: readonly number[], lost: readonly number[]): number[] => {
  const active = sent.filter((count) => count > 0);
  const mean = active.reduce((sum, count) => sum + count, 0) / Math.max(1, active.length);
  return lost.map((count, second) => (count === 0 ? 0 : (count * 1000) / (at(sent, second) || mean || 1)));
};

const members = ['sent', 'received', 'lost', 'packetLossDurationMs'] as const;
type Member = (typeof members)[number];
type SideCounts = Record<Member, number[]>;

const lossyEngines: ReadonlySet<string> = new Set(['convergence', 'udp', 'stream', 'pcap-replay']);

interface Counts {
  readonly exclusively: Mutex;
  readonly reopenings: number;
  readonly bySide: Map<number, SideCounts>;
  /** Up to here nothing changes any more. */
  settledSec: number;
}

const counts = new WeakMap<OpenRun, Counts>();

const countsOf = (run: OpenRun): Counts => {
  const known = counts.get(run);
  if (known?.reopenings === run.reopenings) return known;
  const made = { exclusively: createMutex(), reopenings: run.reopenings, bySide: new Map(), settledSec: 0 };
  counts.set(run, made);
  return made;
};

/** Numbers of the metrics of one engine in this run. */
const numbersOf = ({ names }: OpenRun, engine: string): ReadonlyMap<number, Member> => {
  const byName = new Map(members.map((member) => [`${engine}.${member}`, member]));
  byName.set(`${engine}.lossDurationMs`, 'packetLossDurationMs');
  const numbers = new Map<number, Member>();
  for (const [number, { kind, name }] of names.metrics) {
    const member = kind === 'counter' ? byName.get(name) : undefined;
    if (member !== undefined) numbers.set(number, member);
  }
  return numbers;
};

const numberOf = (run: OpenRun, engine: string, member: Member): number | undefined =>
  [...numbersOf(run, engine)].find(([, found]) => found === member)?.[0];

const readCounts = async (read: Executor, run: OpenRun, known: Counts): Promise<void> => {
  const numbers = new Map([...lossyEngines].map((engine) => [engine, numbersOf(run, engine)]));
  for (const side of known.bySide.values()) for (const member of members) side[member].length = known.settledSec;
  const wants = (metric: number) => [...numbers.values()].some((own) => own.has(metric));
  const span = { fromSec: known.settledSec + 1, toSec: run.newestSecond, wants };
  await scanMerged(read, run, span, ({ side, second, parts }) => {
    const own = numbers.get(side.engine);
    if (own === undefined) return;
    let counted = known.bySide.get(side.group);
    if (counted === undefined) {
      counted = { sent: [], received: [], lost: [], packetLossDurationMs: [] };
      known.bySide.set(side.group, counted);
    }
    for (const member of members) while (counted[member].length < second) counted[member].push(0);
    for (const [number, value] of parts.flatMap(({ scalars }) => [...scalars])) {
      const values = counted[own.get(number) ?? 'sent'];
      if (own.has(number)) values[second - 1] = at(values, second - 1) + value;
    }
  });
  known.settledSec = Math.max(known.settledSec, Math.min(run.lastOfRolled, run.newestSecond));
};

/** True when no packet can be sent or received any more: the run is over, or all its jobs are. */
const hasEnded = async (read: Executor, { facts: { runId } }: OpenRun): Promise<boolean> => {
  const status = (await runStatuses(read, [runId])).get(runId) ?? runStatus.failed;
  if (!isActive(status)) return true;
  if (status !== runStatus.stopping) return false;
  return (await runAgentsOf(read, runId)).every(({ orders }) => orders.every(({ outcome }) => outcome !== null));
};

/** The side that sends what this one receives; undefined where it receives nothing that is sequenced. */
const senderOf = (run: OpenRun, { group, engine, role }: Side): number | undefined => {
  if (engine === 'pcap-replay' || role === 'server') return otherGroup(group);
  const received = numberOf(run, engine, 'received');
  // A client that receives has its own packets echoed.
  return received !== undefined && run.names.hasReported(group, received) ? group : undefined;
};

const agentOf = ({ facts }: OpenRun, group: number): number => {
  const [agentId = everyAgent, ...others] = [...facts.agents]
    .filter(([, { sides }]) => sides.some((side) => side.group === group))
    .map(([id]) => id);
  return others.length > 0 ? everyAgent : agentId;
};

interface Corrections {
  readonly side: Side;
  readonly agentId: number;
  /** By number of the metric, then by second. */
  readonly values: readonly (readonly [number, readonly number[]])[];
}

const correctionsOf = (run: OpenRun, side: Side, known: Counts, options: Pick<Traffic, 'isEnded' | 'isLive'>) => {
  const own = known.bySide.get(side.group);
  const sender = known.bySide.get(senderOf(run, side) ?? -1);
  const lostNumber = numberOf(run, side.engine, 'lost');
  if (own === undefined || sender === undefined || lostNumber === undefined) return undefined;
  const corrections = lossCorrections({ ...own, sent: sender.sent, ...options });
  const values: [number, number[]][] = [[lostNumber, corrections]];
  const durationNumber = numberOf(run, side.engine, 'packetLossDurationMs');
  if (durationNumber !== undefined) {
    const lost = corrections.map((value, second) => value + at(own.lost, second));
    const durations = lossDurations(sender.sent, lost);
    values.push([durationNumber, durations.map((value, second) => value - at(own.packetLossDurationMs, second))]);
  }
  return { side, agentId: agentOf(run, side.group), values };
};

export interface LossRequest {
  readonly fromSec: number;
  readonly toSec: number;
  readonly wants: (metric: number) => boolean;
  readonly isLive?: boolean | undefined;
}

const measuredFrom = ({ side, agentId, values }: Corrections, { fromSec, toSec, wants }: LossRequest): Measured[] => {
  const measured: Measured[] = [];
  const wanted = values.filter(([number]) => wants(number));
  for (let second = fromSec; second <= toSec; second += 1) {
    const scalars = new Map(wanted.map(([number, list]) => [number, at(list, second - 1)]));
    if ([...scalars.values()].every((value) => value === 0)) continue;
    const parts = [{ target: noTarget, scalars, histograms: new Map() }];
    measured.push({ side, agentId, second, spanSec: 0, parts, isMore: false });
  }
  return measured;
};

/**
 * Losses that receivers cannot count, as additional measurements of the receiving sides. `agentId` is that of the only
 * agent of a side, else 0.
 */
export const readLosses = async (read: Executor, run: OpenRun, request: LossRequest): Promise<Measured[]> => {
  const sides = [...run.facts.sides.values()].filter(({ engine }) => {
    const lost = lossyEngines.has(engine) ? numberOf(run, engine, 'lost') : undefined;
    const duration = lost === undefined ? undefined : numberOf(run, engine, 'packetLossDurationMs');
    return (lost !== undefined && request.wants(lost)) || (duration !== undefined && request.wants(duration));
  });
  if (sides.length === 0) return [];
  const known = countsOf(run);
  return known.exclusively(async () => {
    await readCounts(read, run, known);
    const isEnded = await hasEnded(read, run);
    return sides.flatMap((side) => {
      const found = correctionsOf(run, side, known, { isEnded, isLive: request.isLive ?? false });
      return found === undefined ? [] : measuredFrom(found, request);
    });
  });
};
