import type { Executor } from '../../store/engine/database.ts';
import { removeRollups } from '../../store/runs/run-rollups.ts';
import { everyAgent, sampleKeys } from '../../store/runs/samples.ts';
import type { Store } from '../../store/store.ts';
import { secondAt } from '../read/run-facts.ts';
import { minuteOf } from '../rollup/merged-minutes.ts';
import type { OpenRun } from './open-run.ts';
import type { OpenRuns } from './open-runs.ts';
import { removeMergedMinute } from './writing.ts';

interface Deps {
  store: Store;
  runs: OpenRuns;
  assertMayIngest?: ((tx: Executor, runId: number) => Promise<void>) | undefined;
}

/** The minutes with seconds that are stored and not known; undefined when all are known. */
const missedMinutes = async (store: Store, run: OpenRun): Promise<Set<number> | undefined> => {
  const minutes = new Set<number>();
  let isWhole = true;
  for (const { agentID, orderIndex, fromSeq, toSeq, fromAt, toAt } of await sampleKeys(store.read, run.facts.runId)) {
    if (agentID === everyAgent || run.streamOf(agentID, orderIndex)?.ranges.hasAll(fromSeq, toSeq)) continue;
    isWhole = false;
    const last = minuteOf(secondAt(run.facts, toAt) + 1);
    for (let minute = minuteOf(Math.max(1, secondAt(run.facts, fromAt) - 1)); minute <= last; minute += 1)
      minutes.add(minute);
  }
  return isWhole ? undefined : minutes;
};

/**
 * Reads a run again when other controllers have stored seconds that this one did not hear of: minutes that were merged
 * without them are merged anew. Returns whether there were any.
 */
export const readMissed = async ({ store, runs, assertMayIngest }: Deps, runId: number): Promise<boolean> => {
  const run = await runs.open(runId);
  const minutes = run && (await missedMinutes(store, run));
  if (run === undefined || minutes === undefined) return false;
  const merged = [...minutes].filter((minute) => run.rolled.has(minute));
  if (merged.length > 0) {
    await store.database.transaction(async (tx) => {
      await assertMayIngest?.(tx, runId);
      for (const minute of merged) await removeMergedMinute(tx, run, minute);
      await removeRollups(tx, runId);
    });
  }
  runs.forget(runId);
  const again = await runs.open(runId);
  if (again !== undefined) again.isOurs = run.isOurs;
  return true;
};
