import { setImmediate as nextEventLoop } from 'node:timers/promises';
import { isActive } from '@rushhour/contract';
import type { Logger } from 'pino';
import { clockNow } from '../../clock.ts';
import type { Mutex } from '../../concurrency/mutex.ts';
import { UniqueViolation } from '../../store/engine/database.ts';
import { runStatuses } from '../../store/runs/run-history.ts';
import {
  everyAgent,
  insertSamples,
  removeSampleRows,
  runsWithLooseSamples,
  type SampleRow,
  samplesIn,
} from '../../store/runs/samples.ts';
import type { Store } from '../../store/store.ts';
import { piecesOf, spanOf } from '../ingest/arrivals.ts';
import { secondOfCell } from '../ingest/cell.ts';
import { firstOfBlock, lastOfBlock, type OpenRun, type Stream } from '../ingest/open-run.ts';
import type { OpenRuns } from '../ingest/open-runs.ts';
import { packedOf, packSeconds, unpackSeconds, zstdBlob } from '../ingest/packing.ts';
import { timeOf } from '../read/run-facts.ts';
import { lastOfMinute } from './merged-minutes.ts';

/** A block that stays incomplete for so long is compacted as it is. */
const idleMs = 120_000;
const blocksAtOnce = 8;

/** `all`: whether complete or not. */
interface When {
  all: boolean;
  now: number;
}

interface Block {
  stream: Stream;
  number: number;
  span: { runID: number; agentID: number; orderIndex: number; fromSeq: number; toSeq: number };
}

const dueBlocks = (run: OpenRun, { all, now }: When): Block[] =>
  [...run.streams].flatMap((stream) => {
    const isIdle = all || now - stream.arrivedAt > idleMs;
    return [...stream.loose].flatMap((number) => {
      const [fromSeq, toSeq] = [firstOfBlock(number), lastOfBlock(number)];
      if (!isIdle && !stream.ranges.hasAll(fromSeq, toSeq)) return [];
      const { agentId, order } = stream;
      return [
        { stream, number, span: { runID: run.facts.runId, agentID: agentId, orderIndex: order, fromSeq, toSeq } },
      ];
    });
  });

/** The rows of a block as one, or as few as its gaps allow. */
const wholeOf = (loose: readonly SampleRow[], { span }: Block): SampleRow[] => {
  const pieces = piecesOf(loose.flatMap(({ data }) => unpackSeconds(packedOf(data))));
  const { runID, agentID, orderIndex } = span;
  return pieces.map((piece) => ({
    runID,
    agentID,
    orderIndex,
    ...spanOf(piece),
    isBlock: 1,
    data: zstdBlob(packSeconds(piece)),
  }));
};

const replace = async (store: Store, blocks: readonly Block[]) => {
  const replaced: SampleRow[][] = [];
  const rows: SampleRow[] = [];
  for (const block of blocks) {
    const loose = await samplesIn(store.read, block.span);
    replaced.push(loose);
    rows.push(...wholeOf(loose, block));
    await nextEventLoop();
  }
  await store.database.transaction(async (tx) => {
    for (const loose of replaced) await removeSampleRows(tx, loose);
    await insertSamples(tx, rows);
  });
  for (const { stream, number } of blocks) stream.loose.delete(number);
};

/**
 * Makes one compressed row of the many small ones of a minute. A block is replaced within one transaction: after a
 * crash it is there in the one form or in the other. Others get their pass between a few blocks and the next.
 */
export const compact = async (store: Store, run: OpenRun, { exclusively, ...when }: When & { exclusively: Mutex }) => {
  const due = dueBlocks(run, when);
  for (let i = 0; i < due.length; i += blocksAtOnce) {
    await exclusively(() => replace(store, due.slice(i, i + blocksAtOnce)));
  }
};

/** So long after its end a minute is thought complete; what comes later opens it again. */
const lateMs = 15_000;

const rowsOf = ({ facts, merged }: OpenRun, minute: number): SampleRow[] =>
  merged.sidesOf(minute).map(({ group, seconds }) => {
    const packed = packSeconds(seconds.map(([second, cell]) => secondOfCell(second, timeOf(facts, second), cell)));
    const first = seconds[0]?.[0] ?? 0;
    const last = seconds.at(-1)?.[0] ?? 0;
    return {
      runID: facts.runId,
      agentID: everyAgent,
      orderIndex: group,
      fromSeq: first,
      toSeq: last,
      fromAt: timeOf(facts, first),
      toAt: timeOf(facts, last),
      isBlock: 1,
      data: zstdBlob(packed),
    };
  });

const store = async ({ database }: Store, run: OpenRun, minute: number) => {
  const rows = rowsOf(run, minute);
  await database
    .transaction((tx) => insertSamples(tx, rows))
    .catch((error) => {
      // Another controller has stored the same minute in this moment.
      if (!(error instanceof UniqueViolation)) throw error;
    });
  run.rolled.add(minute);
  run.merged.drop(minute);
};

/** Stores the merged minutes that are complete, or all of them, and lets go of them in memory. */
export const rollUp = async (
  to: Store,
  run: OpenRun,
  { all, now, exclusively }: { all: boolean; now: number; exclusively: Mutex },
) => {
  const isDue = (minute: number) => all || timeOf(run.facts, lastOfMinute(minute)) + lateMs < now;
  for (const minute of run.merged.minutes.filter(isDue)) await exclusively(() => store(to, run, minute));
};

export interface UpkeepOptions {
  store: Store;
  log: Logger;
  runs: OpenRuns;
  exclusively: Mutex;
  /** Called for a run that leaves the memory. */
  onClosed(runId: number): void;
  /** Called before an ended run is brought into its final form. */
  beforeFinish?(runId: number): Promise<void>;
  /** Called when an ended run has its final form. */
  onFinished(runId: number): Promise<void>;
}

const everyMs = 5000;
/** An ended run stays in memory for this time after its last use. */
const keptMs = 30_000;
const isOver = (status: number | undefined) => status === undefined || !isActive(status);

const tidy = async ({ exclusively, store }: UpkeepOptions, run: OpenRun, all: boolean) => {
  const when = { all, now: clockNow(), exclusively };
  await rollUp(store, run, when);
  await compact(store, run, when);
};

/** Exclusive: a writer always has the run that is in memory, not a copy that was closed. */
const close = ({ exclusively, runs, onClosed }: UpkeepOptions, runId: number) =>
  exclusively(async () => {
    runs.forget(runId);
    onClosed(runId);
  });

/** Everything of the run is brought into its final form. */
const finish = async (deps: UpkeepOptions, runId: number) => {
  const { runs } = deps;
  await deps.beforeFinish?.(runId);
  const run = await runs.open(runId);
  if (run !== undefined) await tidy(deps, run, true);
  await close(deps, runId);
  await deps.onFinished(runId);
};

const lookAfter = async (deps: UpkeepOptions, run: OpenRun, status: number | undefined) => {
  const { runId } = run.facts;
  if (status === undefined) await close(deps, runId);
  else if (isOver(status) && clockNow() - run.usedAt > keptMs) await finish(deps, runId);
  else if (run.isOurs || isOver(status)) await tidy(deps, run, isOver(status));
};

const pass = async (deps: UpkeepOptions) => {
  const { runs, store } = deps;
  const open = runs.all();
  const statuses = await runStatuses(
    store.read,
    open.map(({ facts }) => facts.runId),
  );
  for (const run of open) await lookAfter(deps, run, statuses.get(run.facts.runId));
};

/** What a crash has left undone. */
const recover = async (deps: UpkeepOptions) => {
  const { store } = deps;
  const left = await runsWithLooseSamples(store.read);
  const statuses = await runStatuses(store.read, left);
  for (const runId of left) if (isOver(statuses.get(runId))) await finish(deps, runId);
};

/** Looks after stored samples in the background: minutes are merged and compressed, ended runs leave the memory. */
export const startUpkeep = (deps: UpkeepOptions) => {
  const { log } = deps;

  let isClosed = false;
  const guarded = (work: () => Promise<void>) =>
    work().catch((error) => {
      if (!isClosed) log.error({ err: error }, 'upkeep of measurements');
    });
  let working: Promise<unknown> = guarded(() => recover(deps));
  const timer = setInterval(() => {
    working = working.then(() => (isClosed ? undefined : guarded(() => pass(deps))));
  }, everyMs).unref();

  return {
    finish: (runId: number) => finish(deps, runId),
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      await working;
    },
  };
};

export type Upkeep = ReturnType<typeof startUpkeep>;
