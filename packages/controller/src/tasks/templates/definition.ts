import type { TaskTemplate } from '@rushhour/contract';

type Definition = TaskTemplate['task'];

/** What a task record has besides its definition; a client may send back what it read. */
const dropped = new Set([
  ...['id', 'status', 'error', 'projectID', 'project', 'issuerID', 'issuer', 'lastRunId', 'verdict'],
  ...['scheduleEnabled', 'createdAt', 'updatedAt', 'startedAt', 'finishedAt', 'deletedAt'],
]);

/** The definition in a task as it was given. Members that no task has stay, and are refused. */
export const definitionIn = (task: Definition): Definition =>
  Object.fromEntries(Object.entries(task).filter(([name]) => !dropped.has(name)));
