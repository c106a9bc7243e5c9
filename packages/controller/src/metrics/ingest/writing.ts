import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import { clockNow } from '../../clock.ts';
import { type Database, type Executor, UniqueViolation } from '../../store/engine/database.ts';
import type { Secrets } from '../../store/engine/secrets.ts';
import { insertRunRecords } from '../../store/runs/run-attempts.ts';
import { sealKeyRows } from '../../store/runs/run-keys.ts';
import { removeRollups } from '../../store/runs/run-rollups.ts';
import { putRunRows } from '../../store/runs/run-rows.ts';
import {
  everyAgent,
  insertRunNames,
  insertSamples,
  removeSamplesIn,
  runNamesOf,
  type SampleRow,
} from '../../store/runs/samples.ts';
import type { Store } from '../../store/store.ts';
import { readLimits, secondOf } from '../read/run-facts.ts';
import { firstOfMinute, lastOfMinute, minuteOf } from '../rollup/merged-minutes.ts';
import { RunArrivals } from './arrivals.ts';
import { NameBook } from './name-book.ts';
import { blockOf, type OpenRun } from './open-run.ts';
import { readMergedMinute } from './open-runs.ts';

/** What a run needs written, with the merged minutes that late seconds make necessary to open again. */
export interface Writing {
  arrivals: RunArrivals;
  reopened: Map<number, Awaited<ReturnType<typeof readMergedMinute>>>;
}

/** How far the clocks of agents may be off. */
const maxOffMs = 60_000;

/** Room for what comes of a run. */
export const newArrivals = async (read: Executor, run: OpenRun): Promise<RunArrivals> => {
  const { runId, t0 } = run.facts;
  const { lastMs, isOver } = await readLimits(read, runId);
  return new RunArrivals(run, { from: t0 - maxOffMs, to: Math.min(clockNow() + maxOffMs, lastMs) }, isOver);
};

const insertFresh = ({ facts, names }: OpenRun, tx: Executor) =>
  insertRunNames(
    tx,
    names.fresh.map((fresh) => ({ runID: facts.runId, ...fresh })),
  );

/**
 * Of several controllers that add names to a run at the same time, one gives them their numbers. False when another one
 * did so: what was packed with these names is to be packed again.
 */
export const shareNames = async (database: Database, runs: readonly OpenRun[]): Promise<boolean> => {
  let areKept = true;
  for (const run of runs.filter(({ names }) => names.fresh.length > 0)) {
    try {
      await database.transaction((tx) => insertFresh(run, tx));
      run.names.settle();
    } catch (error) {
      if (!(error instanceof UniqueViolation)) throw error;
      run.names = new NameBook(await runNamesOf(database, run.facts.runId));
      areKept = false;
    }
  }
  return areKept;
};

/** Writes what agents reported. */
export const writeReported = async (
  tx: Executor,
  secrets: Secrets,
  { records, tableRows }: RunArrivals,
  rows: readonly SampleRow[],
) => {
  await insertSamples(tx, rows);
  await insertRunRecords(tx, records);
  await putRunRows(tx, sealKeyRows(secrets, tableRows));
};

export const write = async (tx: Executor, secrets: Secrets, { arrivals, reopened }: Writing) => {
  const { facts } = arrivals.run;
  await insertFresh(arrivals.run, tx);
  for (const minute of reopened.keys()) await removeMergedMinute(tx, arrivals.run, minute);
  if (arrivals.areLate) await removeRollups(tx, facts.runId);
  await writeReported(tx, secrets, arrivals, arrivals.rows);
};

export const removeMergedMinute = async (tx: Executor, { facts }: OpenRun, minute: number) => {
  const span = { fromSeq: firstOfMinute(minute), toSeq: lastOfMinute(minute) };
  for (const orderIndex of facts.sides.keys()) {
    await removeSamplesIn(tx, { runID: facts.runId, agentID: everyAgent, orderIndex, ...span });
  }
};

/** Whether there is anything to write: what other controllers stored is only taken into memory. */
export const needsWrite = ({ arrivals, reopened }: Writing): boolean =>
  reopened.size > 0 || arrivals.areLate || [...arrivals.streams].length > 0;

/** Reads the merged minutes that late seconds belong to. */
export const prepareWriting = async ({ read }: Store, arrivals: RunArrivals): Promise<Writing> => {
  const { run } = arrivals;
  const reopened: Writing['reopened'] = new Map();
  for (const stream of arrivals.touched) {
    for (const second of arrivals.secondsOf(stream)) {
      if (!run.isRolled(second)) continue;
      const minute = minuteOf(secondOf(run.facts, second));
      if (!reopened.has(minute)) reopened.set(minute, await readMergedMinute(read, run, minute));
    }
  }
  return { arrivals, reopened };
};

/** Makes memory follow what is on disk now. */
export const settle = ({ arrivals, reopened }: Writing) => {
  const { run } = arrivals;
  run.names.settle();
  for (const [minute, cells] of reopened) {
    run.rolled.delete(minute);
    run.reopenings += 1;
    for (const { group, second, cell } of cells) run.merged.put(group, second, cell);
  }
  const now = clockNow();
  run.usedAt = now;
  run.isOurs = true;
  for (const stream of arrivals.touched) {
    stream.arrivedAt = now;
    for (const second of arrivals.secondsOf(stream)) {
      stream.ranges.add(second.seq);
      stream.loose.add(blockOf(second.seq));
      run.take(stream, second);
    }
  }
};

export const acknowledge = (gateway: Pick<AgentGateway, 'send'>, { run, streams }: RunArrivals) => {
  for (const { agentId, order, ranges } of streams) {
    const { runId, epoch } = run.facts;
    gateway.send(agentId, { type: 'acknowledge', runId, epoch, order, seq: ranges.contiguous });
  }
};
