import { isActive } from '@rushhour/contract';
import { conflict, notFound } from '../../errors.ts';
import type { Change } from '../../store/engine/change.ts';
import { releaseUsed } from '../../store/engine/links.ts';
import { findTask, markTask, tasks } from '../../store/tasks/tasks.ts';
import { linkTask } from './write-task.ts';

/** Stops runs within the same transaction. */
export interface RunStopper {
  stop(tx: Change, taskId: number, request: { reason: 'deleted' }): Promise<unknown>;
}

interface ItemResult {
  id: number;
  ok: boolean;
  error?: string;
  code?: string;
}

const refused = (id: number, { code, message }: { code: string; message: string }): ItemResult => ({
  id,
  ok: false,
  code,
  error: message,
});

/** One of many: a failure does not affect the others. */
export const eachTask = async (
  ids: readonly number[],
  work: (id: number) => Promise<ItemResult | undefined>,
): Promise<{ data: ItemResult[] }> => {
  const data: ItemResult[] = [];
  for (const id of ids) data.push((await work(id)) ?? { id, ok: true });
  return { data };
};

/** Marks a task as deleted; an active one only with `force`, which stops its run. */
export const removeTask = async (tx: Change, id: number, runs: RunStopper, force: boolean) => {
  const task = await findTask(tx, id);
  if (task === undefined) return refused(id, notFound('task', id));
  if (isActive(task.status)) {
    if (!force) return refused(id, conflict('TASK_ACTIVE', `task ${id} is active: stop it, or delete it with force`));
    await runs.stop(tx, id, { reason: 'deleted' });
  }
  await markTask(tx, id, tx.now);
  await releaseUsed(tx, 'task', [id]);
  return undefined;
};

export const restoreTask = async (tx: Change, id: number) => {
  const task = await tasks.find(tx, id);
  if (task === undefined) return refused(id, notFound('task', id));
  if (task.deletedAt === null) return undefined;
  await markTask(tx, id, null);
  await linkTask(tx, task);
  return undefined;
};

export const moveTask = async (tx: Change, id: number, projectID: number | null) => {
  const task = await findTask(tx, id);
  if (task === undefined) return refused(id, notFound('task', id));
  await tasks.update(tx, id, { projectID });
  return undefined;
};
