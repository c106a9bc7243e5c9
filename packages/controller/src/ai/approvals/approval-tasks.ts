import type { TaskDraft } from '@rushhour/contract';
import { activeStatuses } from '@rushhour/contract';
import type { AiCaller } from '../../caller.ts';
import { conflict, type Issue, notFound } from '../../errors.ts';
import type { RunPlan } from '../../plan/core/agent-plan.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import { findTask, type StoredTask, tasks } from '../../store/tasks/tasks.ts';
import type { Filling } from '../../tasks/templates/fill.ts';
import { seesProject } from '../keys/visibility.ts';
import type { ReadDependencies } from './digest-subject.ts';
import type { TaskAction } from './risk.ts';

export interface AgentConflict {
  readonly taskID: number;
  readonly agentID: number;
  readonly from: string;
  /** Null when unknown. */
  readonly to: string | null;
}

/** The task operations that the gateway needs. */
export interface TaskOperations {
  readonly dependenciesOf: ReadDependencies;
  /** All issues of a task of unknown shape. */
  check(executor: Executor, task: unknown): Promise<Issue[]>;
  create(tx: Change, draft: TaskDraft): Promise<number>;
  /** The task of a template with these values and its defaults; what has none is left out. */
  fromTemplate(executor: Executor, id: number, filling: Filling): Promise<Record<string, unknown> | undefined>;
  /** Other tasks that need the same agents during this run. */
  conflictsOf(plan: RunPlan, taskId: number | null): Promise<AgentConflict[]>;
  /** Marks an idle task as deleted, or returns why it cannot. */
  remove(tx: Change, id: number): Promise<{ code?: string; error?: string } | undefined>;
}

/** The task states in which an action is possible. */
export const fromStatus: Readonly<Record<TaskAction, readonly number[]>> = {
  start: [0, 7, 8, 9],
  stop: activeStatuses,
  pause: [4],
  resume: [5],
  restart: [0, 1, 2, 3, 4, 5, 7, 8, 9],
  'set-rate': [4, 5],
  delete: [0, 7, 8, 9],
};

/** Tasks of other projects are hidden from a key. */
export const visibleTask = async (executor: Executor, { key }: AiCaller, id: number): Promise<StoredTask> => {
  const task = await findTask(executor, id);
  if (task === undefined || !seesProject(key, task.projectID)) throw notFound('task', id);
  return task;
};

/** Conflicts as visible to a key: those with tasks of other projects do not name the task. */
export const shownConflicts = async (executor: Executor, { key }: AiCaller, conflicts: readonly AgentConflict[]) => {
  const found = await tasks.findMany(executor, [...new Set(conflicts.map(({ taskID }) => taskID))]);
  const visible = new Set(found.filter(({ projectID }) => seesProject(key, projectID)).map(({ id }) => id));
  return conflicts.map(({ taskID, ...conflict }) => ({ ...conflict, ...(visible.has(taskID) && { taskID }) }));
};

/** All or nothing: one task in the wrong state stops the whole request. */
export const assertStatuses = (action: TaskAction, found: readonly Pick<StoredTask, 'id' | 'status'>[]) => {
  const wrong = found.filter(({ status }) => !fromStatus[action].includes(status));
  const [first] = wrong;
  if (first === undefined) return;
  const code = action === 'start' ? 'TASK_NOT_STARTABLE' : 'TASK_WRONG_STATUS';
  throw conflict(code, `task ${first.id} is in status ${first.status}: ${action} is not possible`, {
    tasks: wrong.map(({ id, status }) => ({ id, status })),
    fromStatus: fromStatus[action],
  });
};
