import { setImmediate as nextEventLoop } from 'node:timers/promises';
import type { Executor } from '../../store/engine/database.ts';
import { everyAgent, type SampleRow, samplesBetween } from '../../store/runs/samples.ts';
import { type Cell, cellOfSecond, histogramsOf, isNeededForCell, phaseOf } from '../ingest/cell.ts';
import { noTarget } from '../ingest/name-book.ts';
import type { OpenRun } from '../ingest/open-run.ts';
import { packedOf, unpackSeconds } from '../ingest/packing.ts';
import type { Part } from '../ingest/second.ts';
import { minuteOf } from '../rollup/merged-minutes.ts';
import type { SecondSlot } from './phases.ts';
import { type Side, secondOf, slackSec, timeOf } from './run-facts.ts';

/** What is wanted of a run: seconds from the common start, both included, and metrics by their numbers. */
export interface Span {
  readonly fromSec: number;
  readonly toSec: number;
  readonly wants: (metric: number) => boolean;
}

/** What one source did in one second. */
export interface Measured {
  readonly side: Side;
  /** 0 where it is all agents together. */
  readonly agentId: number;
  readonly second: number;
  readonly spanSec: number;
  readonly parts: readonly Part[];
  /** The source has been in this second before: what stands is said, what was counted adds up. */
  readonly isMore: boolean;
}

/** The same, counted where it belongs; undefined when it belongs nowhere. */
export const movedTo = (measured: Measured, slot: SecondSlot | undefined): Measured | undefined => {
  if (slot === undefined) return undefined;
  const { second, countsTime } = slot;
  if (second === measured.second) return measured;
  return { ...measured, second, spanSec: countsTime ? measured.spanSec : 0, isMore: true };
};

/** Minutes that are read before others get their turn. */
const rowsAtOnce = 4;

type Visit = (measured: Measured) => void;

const measuredCell = (side: Side, second: number, cell: Cell): Measured => ({
  side,
  agentId: everyAgent,
  second,
  spanSec: cell.spanMs / 1000,
  parts: [{ target: noTarget, scalars: cell.scalars, histograms: histogramsOf(cell) }],
  isMore: false,
});

/** What is only in memory, taken at once: while the store is read it may move there. */
const cellsInMemory = ({ facts, merged }: OpenRun, { fromSec, toSec }: Span): Measured[] =>
  merged.minutes
    .filter((minute) => minute >= minuteOf(fromSec) && minute <= minuteOf(toSec))
    .flatMap((minute) => merged.sidesOf(minute))
    .flatMap(({ group, seconds }) => {
      const side = facts.sides.get(group);
      if (side === undefined) return [];
      return seconds
        .filter(([second]) => second >= fromSec && second <= toSec)
        .map(([second, cell]) => measuredCell(side, second, cell));
    });

/** The sides of a run, each merged over its agents and targets, second by second. */
export const scanMerged = async (read: Executor, run: OpenRun, span: Span, visit: Visit): Promise<void> => {
  const { facts } = run;
  const inMemory = cellsInMemory(run, span);
  const rolled = new Set(run.rolled);
  const wants = (metric: number) => isNeededForCell(metric) || span.wants(metric);
  const where = {
    runID: facts.runId,
    fromAt: timeOf(facts, span.fromSec),
    toAt: timeOf(facts, span.toSec),
    agent: everyAgent,
  };
  const visitRow = ({ orderIndex, fromSeq, data }: SampleRow) => {
    const side = facts.sides.get(orderIndex);
    if (side === undefined || !rolled.has(minuteOf(fromSeq))) return;
    for (const second of unpackSeconds(packedOf(data), wants)) {
      if (second.seq < span.fromSec || second.seq > span.toSec) continue;
      visit(measuredCell(side, second.seq, cellOfSecond(second)));
    }
  };
  if (rolled.size > 0) {
    for await (const rows of samplesBetween(read, where)) {
      for (const [index, row] of rows.entries()) {
        visitRow(row);
        if (index % rowsAtOnce === 0) await nextEventLoop();
      }
    }
  }
  inMemory.forEach(visit);
};

/** Everything one agent sent, or each of them, job by job, with its targets. */
export const scanAgents = async (
  read: Executor,
  { facts }: OpenRun,
  { agentId, ...span }: Span & { agentId?: number | undefined },
  visit: Visit,
): Promise<void> => {
  let previous: { side: Side; agentId: number; order: number; second: number } | undefined;
  const visitRow = ({ agentID, orderIndex, data }: SampleRow) => {
    const side = facts.agents.get(agentID)?.sides[orderIndex];
    if (side === undefined) return;
    for (const given of unpackSeconds(packedOf(data), span.wants)) {
      const { spanMs, parts } = given;
      const second = secondOf(facts, given);
      const isSame = previous?.agentId === agentID && previous.order === orderIndex;
      const isMore = isSame && previous?.second === second;
      previous = { side, agentId: agentID, order: orderIndex, second };
      if (second < span.fromSec || second > span.toSec) continue;
      visit({ side, agentId: agentID, second, spanSec: spanMs / 1000, parts, isMore });
    }
  };
  const where = {
    runID: facts.runId,
    fromAt: timeOf(facts, span.fromSec - slackSec),
    toAt: timeOf(facts, span.toSec + slackSec),
    agent: agentId,
  };
  for await (const rows of samplesBetween(read, where)) {
    for (const [index, row] of rows.entries()) {
      visitRow(row);
      if (index % rowsAtOnce === 0) await nextEventLoop();
    }
  }
};

/** Makes sure that it is known which seconds are steady, also those from before the run was opened. */
export const readPhases = async (read: Executor, run: OpenRun): Promise<void> => {
  if (run.arePhasesKnown) return;
  const { facts, phases } = run;
  const where = { runID: facts.runId, fromAt: facts.t0, toAt: timeOf(facts, run.newestSecond), agent: everyAgent };
  for await (const rows of samplesBetween(read, where)) {
    for (const { orderIndex, data } of rows) {
      for (const second of unpackSeconds(packedOf(data), isNeededForCell)) {
        phases.note(orderIndex, second.seq, phaseOf(cellOfSecond(second)));
      }
    }
    await nextEventLoop();
  }
  run.arePhasesKnown = true;
};
