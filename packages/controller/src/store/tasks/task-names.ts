import type { Executor } from '../engine/database.ts';
import { statement } from '../engine/statement.ts';
import { taskNameOf } from './tasks.ts';

const found = statement((db, p: { id: number }) =>
  db.selectFrom('tasks').select(['id', 'comment']).where('id', '=', p.id),
);

/** The names of some tasks. */
export const taskNames = async (read: Executor, ids: readonly number[]): Promise<Map<number, string>> => {
  const rows = await Promise.all([...new Set(ids)].map((id) => found.first(read, { id })));
  return new Map(rows.flatMap((row) => (row === undefined ? [] : [[row.id, taskNameOf(row)]])));
};
