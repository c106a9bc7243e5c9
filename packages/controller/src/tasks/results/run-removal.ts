import { isActive } from '@rushhour/contract';
import { type ApiError, conflict, notFound } from '../../errors.ts';
import type { Change } from '../../store/engine/change.ts';
import { removeRuns } from '../../store/runs/run-removal.ts';
import { runs } from '../../store/runs/runs.ts';

interface Removal {
  id: number;
  ok: boolean;
  error?: string;
  code?: string;
}

const refusalOf = (run: Awaited<ReturnType<typeof runs.find>>, id: number): ApiError | undefined => {
  if (run === undefined) return notFound('run', id);
  if (isActive(run.status)) return conflict('RUN_ACTIVE', `run ${id} is active: stop it first`);
  return run.pinned ? conflict('RUN_PINNED', `run ${id} is pinned`) : undefined;
};

/** Deletes the deletable runs of a task and reports the outcome of each. */
export const removeRunsOf = async (tx: Change, taskId: number, ids: readonly number[]): Promise<Removal[]> => {
  const found = (await runs.findMany(tx, ids)).filter(({ taskID }) => taskID === taskId);
  const results = ids.map((id): Removal => {
    const refusal = refusalOf(
      found.find((run) => run.id === id),
      id,
    );
    return { id, ok: refusal === undefined, ...(refusal && { error: refusal.message, code: refusal.code }) };
  });
  const removed = results.filter(({ ok }) => ok).map(({ id }) => id);
  if (removed.length > 0) await removeRuns(tx, removed);
  for (const id of removed) tx.touch('runs', id);
  return results;
};
