import { isDeepStrictEqual } from 'node:util';
import { isActive, permissions, type RunChange, type TaskDraft } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import { assertFresh } from '../../crud.ts';
import { conflict, notFound, orNotFound } from '../../errors.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Secrets } from '../../store/engine/secrets.ts';
import { runs } from '../../store/runs/runs.ts';
import { rebindSchedule } from '../../store/runs/schedules.ts';
import { unmaskConfiguration } from '../../store/tasks/configuration-secrets.ts';
import { findTask, openedConfiguration, type StoredTask, tasks } from '../../store/tasks/tasks.ts';
import { assertProject, assertValidTask, definitionOf, linkTask, sealedDefinition } from './write-task.ts';

export type TaskPatch = { id: number; updatedAt?: string; runs?: RunChange[] } & {
  [K in keyof TaskDraft]?: TaskDraft[K] | null;
};

/** The definition with the given changes; masks keep the stored secrets. */
export const patchedDefinition = (task: StoredTask, given: Omit<TaskPatch, 'id'>, secrets: Secrets) => {
  const before = definitionOf({ ...task, configuration: openedConfiguration(task, secrets) });
  const configuration = given.configuration && unmaskConfiguration(given.configuration, before.configuration);
  return { before, after: definitionOf({ ...given, configuration }, before) };
};

const created = 0;

/** A task changed after its last run counts as not run. */
const statusAfterEdit = ({ status }: StoredTask) => (status === created ? {} : { status: created, error: '' });

/** Notes, labels and pins of runs of the task. */
const changeRuns = async (tx: Change, taskId: number, changes: readonly RunChange[]) => {
  for (const { id, ...members } of changes) {
    const run = await runs.find(tx, id);
    if (run?.taskID !== taskId) throw notFound('run', id);
    await runs.update(tx, id, members);
  }
};

/** Changes a task; an active task accepts only its comment, project, device and runs. */
export const updateTask = async (tx: Change, { secrets, bus }: { secrets: Secrets; bus: Bus }, patch: TaskPatch) => {
  const { id, updatedAt, comment, projectID, device, runs: changes = [] } = patch;
  const task = await orNotFound(findTask(tx, id), 'task', id);
  assertFresh('task', task, updatedAt);
  const { before, after } = patchedDefinition(task, patch, secrets);
  const isEdited = !isDeepStrictEqual(before, after);
  if (isEdited) {
    if (isActive(task.status)) {
      throw conflict('TASK_ACTIVE', `task ${id} is active: only comment, projectID, device and runs can be changed`, {
        id,
      });
    }
    await assertValidTask(tx, after);
  }
  if (projectID !== task.projectID) await assertProject(tx, projectID);
  const edit = isEdited ? { ...sealedDefinition(id, after, secrets), ...statusAfterEdit(task) } : {};
  await tasks.update(tx, id, { comment, projectID, device, ...edit });
  await changeRuns(tx, id, changes);
  if (isEdited) await rebindSchedule(tx, secrets, task);
  await linkTask(tx, { ...after, id, comment: comment ?? (comment === null ? '' : task.comment) });
  if (isEdited && task.status !== created) {
    const permission = permissions['tasks.read'];
    tx.afterCommit(() => bus.publish('task.status', { id, status: created, permission }));
  }
};
