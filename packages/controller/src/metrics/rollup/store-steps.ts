import type { Logger } from 'pino';
import { UniqueViolation } from '../../store/engine/database.ts';
import { runAgentsOf } from '../../store/runs/run-agents.ts';
import {
  countRollups,
  hasRollups,
  insertRollups,
  type RollupRow,
  removeRollups,
} from '../../store/runs/run-rollups.ts';
import type { Store } from '../../store/store.ts';
import { agentStepSec } from './run-steps.ts';

interface Deps {
  readonly store: Store;
  readonly log: Logger;
  /** The steps of some agents of a run, or of all of them together. */
  steps(runId: number, agentIds: readonly number[] | undefined): Promise<RollupRow[]>;
}

const agentsAtOnce = 8;

/** Those of all agents together are stored last, and only while nothing that came late has removed others. */
const storeRun = async ({ store, steps }: Deps, runId: number): Promise<void> => {
  if (await hasRollups(store.read, runId, agentStepSec)) return;
  const agentIds = (await runAgentsOf(store.read, runId)).map(({ agentID }) => agentID);
  await store.database.transaction((tx) => removeRollups(tx, runId));
  let stored = 0;
  for (let at = 0; at < agentIds.length; at += agentsAtOnce) {
    const rows = await steps(runId, agentIds.slice(at, at + agentsAtOnce));
    await store.database.transaction((tx) => insertRollups(tx, rows));
    stored += rows.length;
  }
  const rows = await steps(runId, undefined);
  await store.database.transaction(async (tx) => {
    if ((await countRollups(tx, runId)) === stored) await insertRollups(tx, rows);
    else await removeRollups(tx, runId);
  });
};

/** Stores the steps of ended runs, one run after the other. */
export const createStepsStore = (deps: Deps) => {
  const waiting = new Set<number>();
  let working: Promise<void> = Promise.resolve();
  let isClosed = false;
  return {
    request: (runId: number): void => {
      if (waiting.has(runId) || isClosed) return;
      waiting.add(runId);
      working = working.then(async () => {
        try {
          if (!isClosed) await storeRun(deps, runId);
        } catch (error) {
          // Another controller does it, or a late second came in between.
          if (!isClosed && !(error instanceof UniqueViolation))
            deps.log.error({ err: error, runId }, 'could not store the steps of a run');
        } finally {
          waiting.delete(runId);
        }
      });
    },
    idle: () => working,
    close: (): void => {
      isClosed = true;
    },
  };
};
