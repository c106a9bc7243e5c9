import type { LoadChange } from '@rushhour/contract';
import { isActive } from '@rushhour/contract';
import type { AiCaller } from '../../caller.ts';
import { conflict } from '../../errors.ts';
import type { Runs } from '../../runs/lifecycle/create-runs.ts';
import type { Change } from '../../store/engine/change.ts';
import { type StoredTask, tasks } from '../../store/tasks/tasks.ts';
import type { Prepared, Request } from './approval-plan.ts';
import { assertStatuses, type TaskOperations, visibleTask } from './approval-tasks.ts';
import { revisionOf } from './digest-subject.ts';

interface Deps {
  readonly runs: Pick<Runs, 'enqueue' | 'stop' | 'pause' | 'resume' | 'changeLoad'>;
  readonly operations: Pick<TaskOperations, 'remove'>;
}

export interface Executed {
  /** `{task}` of a start, `{results}` of actions. */
  readonly result: Record<string, unknown>;
  readonly runIDs: readonly number[];
  /** Tasks whose current run must end before the restart. */
  readonly restarting: readonly number[];
}

interface Done {
  readonly runId?: number;
  readonly isRestarting?: boolean;
}

const enqueue = async ({ runs }: Deps, tx: Change, prepared: Prepared, id: number): Promise<Done> => {
  const start = prepared.starts.get(id);
  if (start === undefined) throw new Error(`task ${id} was not checked`);
  const { runId } = await runs.enqueue(tx, start);
  return { runId };
};

const restart = async (deps: Deps, tx: Change, prepared: Prepared, task: StoredTask): Promise<Done> => {
  const { runs } = deps;
  if (!isActive(task.status)) return enqueue(deps, tx, prepared, task.id);
  await runs.stop(tx, task.id, { reason: 'ai', note: 'restart' });
  return { isRestarting: true };
};

const changeLoad = async ({ runs }: Deps, tx: Change, id: number, changes: readonly LoadChange[]): Promise<Done> => {
  const { rejected } = await runs.changeLoad(tx, id, changes);
  const [first] = rejected;
  if (first === undefined) return {};
  throw conflict('RATE_NOT_CHANGEABLE', `task ${id}: ${first.reason}`, { id, rejected });
};

const remove = async ({ operations }: Deps, tx: Change, id: number): Promise<Done> => {
  const refusal = await operations.remove(tx, id);
  if (refusal === undefined) return {};
  throw conflict(refusal.code ?? 'CONFLICT', refusal.error ?? `task ${id} cannot be deleted`, { id });
};

const actOn = async (
  deps: Deps,
  tx: Change,
  task: StoredTask,
  { action, params, reason }: Request,
  prepared: Prepared,
) => {
  const { runs } = deps;
  const { id } = task;
  if (action === 'start') return enqueue(deps, tx, prepared, id);
  if (action === 'restart') return restart(deps, tx, prepared, task);
  if (action === 'delete') return remove(deps, tx, id);
  if (action === 'set-rate') return changeLoad(deps, tx, id, params.changes ?? []);
  const mode = params.mode === 'abort' ? 'abort' : 'graceful';
  if (action === 'stop') await runs.stop(tx, id, { mode, reason: 'ai', note: reason });
  else if (action === 'pause') await runs.pause(tx, id, reason);
  else await runs.resume(tx, id);
  return {};
};

const shown = async (tx: Change, id: number) => {
  const { status, startedAt, lastRunID, ...task } = (await tasks.find(tx, id)) as StoredTask;
  return { id, status, revision: revisionOf(task), startedAt, runId: lastRunID };
};

/** Executes the action inside the transaction that consumes the approval: both happen, or neither. */
export const createExecute = (deps: Deps) => {
  return async (tx: Change, caller: AiCaller, request: Request, prepared: Prepared): Promise<Executed> => {
    const found: StoredTask[] = [];
    for (const id of request.taskIds) found.push(await visibleTask(tx, caller, id));
    assertStatuses(request.action, found);
    const done: (Done & { id: number })[] = [];
    for (const task of found) done.push({ id: task.id, ...(await actOn(deps, tx, task, request, prepared)) });
    const runIDs = done.flatMap(({ runId }) => runId ?? []);
    const restarting = done.flatMap(({ id, isRestarting }) => (isRestarting ? [id] : []));
    const after = await Promise.all(done.map(({ id }) => shown(tx, id)));
    if (request.action === 'start') return { result: { task: after[0] }, runIDs, restarting };
    const results = after.map(({ id, status, runId }) => ({ taskId: id, status, ok: true, error: null, runId }));
    return { result: { results }, runIDs, restarting };
  };
};

export type Execute = ReturnType<typeof createExecute>;
