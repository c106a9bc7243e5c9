import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@rushhour/client/routes';
import type { Task } from '@rushhour/contract';
import { UsageError } from '../exit-codes.ts';

const parts = ['configuration', 'accessPlane', 'controlPlane', 'dumps'] as const;

/** A task as it is to be: its definition with ids. */
export interface WantedTask {
  readonly comment: string;
  readonly projectID?: number;
  readonly definition: Readonly<Record<string, unknown>>;
}

const empty: Readonly<Record<string, unknown>> = { configuration: [], accessPlane: [], controlPlane: [], dumps: {} };

/** Nothing is said by an empty list, nor by a capture that is off. */
const isEmpty = (value: unknown) => {
  if (typeof value !== 'object' || value === null) return false;
  return Object.keys(value).length === 0 || ('enabled' in value && value.enabled === false);
};

/** Only members of the definition; those left out are empty. */
export const definitionOf = (task: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(parts.filter((name) => !isEmpty(task[name] ?? empty[name])).map((name) => [name, task[name]]));

/** Tasks with exactly this comment. */
const tasksNamed = async (client: Client, comment: string): Promise<Task[]> => {
  const search = comment.slice(0, 200);
  const { data } = await client.tasks.list({ query: { search, full: true, count: 100, key: 'id', order: 'desc' } });
  return data.filter((task) => task.comment === comment);
};

/** The task that is like the wanted one in everything, to be run once more. */
export const findEqualTask = async (client: Client, wanted: WantedTask): Promise<Task | undefined> =>
  (await tasksNamed(client, wanted.comment)).find(
    (task) =>
      (wanted.projectID ?? null) === task.projectID &&
      isDeepStrictEqual(definitionOf(task as never), definitionOf(wanted.definition)),
  );

/** The only task with the comment, or none. */
export const findTaskNamed = async (client: Client, comment: string): Promise<Task | undefined> => {
  const [first, ...more] = await tasksNamed(client, comment);
  if (more.length === 0) return first;
  throw new UsageError(`${more.length + 1} tasks have the comment "${comment}": a task file needs one of its own`);
};
