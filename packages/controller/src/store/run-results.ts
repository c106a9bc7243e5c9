import type { Executor } from './database.ts';
import { inList } from './expressions.ts';
import { statement } from './statement.ts';

const statuses = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('runs')
    .select(['id', 'status'])
    .where(inList('id', p.ids, engine)),
);
/** The status of each of these runs that is there. */
export const runStatuses = async (read: Executor, ids: readonly number[]) =>
  new Map((await statuses.all(read, { ids: JSON.stringify(ids) })).map(({ id, status }) => [id, status]));
