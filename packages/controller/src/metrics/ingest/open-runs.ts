import { setImmediate as nextEventLoop } from 'node:timers/promises';
import { clockNow } from '../../clock.ts';
import type { Executor } from '../../store/engine/database.ts';
import {
  everyAgent,
  hasLooseSamples,
  mergedKeys,
  runNamesOf,
  sampleKeys,
  samplesBetween,
  samplesIn,
} from '../../store/runs/samples.ts';
import { readRunFacts, secondOf, slackSec, timeOf } from '../read/run-facts.ts';
import { firstOfMinute, lastOfMinute, minuteOf } from '../rollup/merged-minutes.ts';
import { cellOfSecond } from './cell.ts';
import { NameBook } from './name-book.ts';
import { blockOf, OpenRun } from './open-run.ts';
import { packedOf, unpackSeconds } from './packing.ts';

const forever = 8_640_000_000_000_000;
/** How long what was read of a run holds while another controller may take in its seconds. */
const foreignMs = 1000;

/** Which sequence numbers and which merged minutes are stored. */
const readKeys = async (read: Executor, runId: number) => {
  const keys = await sampleKeys(read, runId);
  const merged = keys.filter(({ agentID }) => agentID === everyAgent);
  return { own: keys.filter(({ agentID }) => agentID !== everyAgent), rolled: rolledOf(merged) };
};

const rolledOf = (merged: readonly { fromSeq: number; toSeq: number }[]) => ({
  minutes: new Set(merged.map(({ fromSeq }) => minuteOf(fromSeq))),
  lastSecond: merged.reduce((last, { toSeq }) => Math.max(last, toSeq), 0),
});

/** Merges again, from what each agent sent, the minutes that are not stored merged. */
const mergeLoose = async (read: Executor, run: OpenRun) => {
  const { facts, rolled } = run;
  let first = 0;
  while (rolled.has(first)) first += 1;
  const span = { runID: facts.runId, fromAt: timeOf(facts, firstOfMinute(first) - slackSec), toAt: forever };
  for await (const rows of samplesBetween(read, span)) {
    for (const { agentID, orderIndex, data } of rows) {
      const stream = run.streamOf(agentID, orderIndex);
      if (stream === undefined) continue;
      for (const second of unpackSeconds(packedOf(data))) {
        if (!run.isRolled(second)) run.take(stream, second);
        stream.lastSecond = Math.max(stream.lastSecond, secondOf(facts, second));
      }
    }
    await nextEventLoop();
  }
};

/** Brings a run into memory as the store has it; undefined when it has not begun. */
const loadRun = async (read: Executor, runId: number): Promise<OpenRun | undefined> => {
  const facts = await readRunFacts(read, runId);
  if (facts === undefined) return undefined;
  const { own, rolled } = await readKeys(read, runId);
  const run = new OpenRun(facts, new NameBook(await runNamesOf(read, runId)), rolled);
  for (const { agentID, orderIndex, fromSeq, toSeq, isBlock } of own) {
    const stream = run.streamOf(agentID, orderIndex);
    stream?.ranges.add(fromSeq, toSeq);
    if (isBlock === 0) stream?.loose.add(blockOf(fromSeq));
  }
  await mergeLoose(read, run);
  return run;
};

/** Whether nothing of a run is to be merged or compacted any more, and how many merged rows it has. */
const settledRowsOf = async (read: Executor, runId: number): Promise<number | undefined> => {
  const merged = await mergedKeys(read, runId);
  return merged.length === 0 || (await hasLooseSamples(read, runId)) ? undefined : merged.length;
};

const maxReadRuns = 8;
/** What was read of a run that goes on holds for this time, and longer where it took long. */
const heldMs = 500;
const heldTimes = 3;

interface ReadRun {
  /** Undefined while the run changes. */
  readonly rows: number | undefined;
  readonly opening: Promise<OpenRun | undefined>;
  until: number;
}

const readRun = async (read: Executor, runId: number): Promise<OpenRun | undefined> => {
  const facts = await readRunFacts(read, runId);
  if (facts === undefined) return undefined;
  const names = new NameBook(await runNamesOf(read, runId));
  const run = new OpenRun(facts, names, rolledOf(await mergedKeys(read, runId)));
  await mergeLoose(read, run);
  return run;
};

/**
 * Runs for a reader that takes nothing in: what is stored merged is enough to open one, and all of one that has not
 * changed since. A run that goes on is opened anew from time to time.
 */
export const createReadRuns = (read: Executor) => {
  const known = new Map<number, ReadRun>();
  const open = (runId: number, rows: number | undefined): ReadRun => {
    const startedAt = performance.now();
    const opened: ReadRun = { rows, opening: readRun(read, runId), until: Number.POSITIVE_INFINITY };
    const settle = () => {
      const tookMs = performance.now() - startedAt;
      if (rows === undefined) opened.until = performance.now() + heldMs + heldTimes * tookMs;
    };
    opened.opening.then(
      (run) => (run === undefined ? known.delete(runId) : settle()),
      () => known.delete(runId),
    );
    known.delete(runId);
    known.set(runId, opened);
    for (const oldest of known.keys()) if (known.size > maxReadRuns) known.delete(oldest);
    return opened;
  };
  return async (runId: number): Promise<OpenRun | undefined> => {
    const rows = await settledRowsOf(read, runId);
    const found = known.get(runId);
    const holds = found !== undefined && found.rows === rows && performance.now() < found.until;
    return (holds ? found : open(runId, rows)).opening;
  };
};

/** Reads a merged minute back into memory, for seconds that come late. */
export const readMergedMinute = async (read: Executor, { facts }: OpenRun, minute: number) => {
  const rows = await Promise.all(
    [...facts.sides.keys()].map((orderIndex) =>
      samplesIn(read, {
        runID: facts.runId,
        agentID: everyAgent,
        orderIndex,
        fromSeq: firstOfMinute(minute),
        toSeq: lastOfMinute(minute),
      }),
    ),
  );
  return rows.flat().flatMap(({ orderIndex, data }) =>
    unpackSeconds(packedOf(data)).map((second) => ({
      group: orderIndex,
      second: second.seq,
      cell: cellOfSecond(second),
    })),
  );
};

/** The runs that are in memory. Opening is lazy: after a restart a run is read back when it is first spoken of. */
export const createOpenRuns = (read: Executor) => {
  const opened = new Map<number, Promise<OpenRun | undefined>>();
  const ready = new Map<number, OpenRun>();
  const isShared = read.engine !== 'sqlite';
  const forget = (runId: number) => {
    opened.delete(runId);
    ready.delete(runId);
  };

  const open = (runId: number): Promise<OpenRun | undefined> => {
    const known = ready.get(runId);
    const now = clockNow();
    if (known !== undefined) known.usedAt = now;
    if (known !== undefined && isShared && !known.isOurs && now - known.openedAt > foreignMs) forget(runId);
    const opening = opened.get(runId);
    if (opening !== undefined) return opening;
    const loading = loadRun(read, runId).then(
      (run) => {
        // A run that has not begun may begin at any moment: nothing is remembered of it.
        if (opened.get(runId) !== loading) return run;
        if (run === undefined) opened.delete(runId);
        else ready.set(runId, run);
        return run;
      },
      (error) => {
        if (opened.get(runId) === loading) opened.delete(runId);
        throw error;
      },
    );
    opened.set(runId, loading);
    return loading;
  };

  return {
    open,
    /** Only what is in memory. */
    find: (runId: number): OpenRun | undefined => ready.get(runId),
    all: (): OpenRun[] => [...ready.values()],
    forget,
  };
};

export type OpenRuns = ReturnType<typeof createOpenRuns>;
