import type { Executor } from '../../store/engine/database.ts';
import { statement } from '../../store/engine/statement.ts';

const find = statement((db, p: { id: number }) =>
  db
    .selectFrom('users')
    .innerJoin('groups', 'groups.id', 'users.groupID')
    .select(['users.id', 'groups.permissions'])
    .where('users.id', '=', p.id)
    .where('users.isActive', '=', 1)
    .where('users.deletedAt', 'is', null),
);

/** The owner of a key with the permissions they have now; undefined when blocked or gone. */
export const findOwner = async (executor: Executor, id: number) => {
  const row = await find.first(executor, { id });
  if (row === undefined) return undefined;
  const held = (JSON.parse(row.permissions) as { value: number }[]).map(({ value }) => value);
  return { id: row.id, permissions: new Set(held) as ReadonlySet<number> };
};
