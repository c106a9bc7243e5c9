import { sql } from 'kysely';
import type { Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import type { LightUser } from '../engine/row.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';

export const groups = createTable('groups');

const members = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('users')
    .select(['id', 'email', 'realName', 'groupID'])
    .where(inList('groupID', p.ids, engine))
    .where('deletedAt', 'is', null)
    .orderBy('id'),
);

/** The members of each group. */
export const membersOf = async (executor: Executor, groupIds: readonly number[]): Promise<Map<number, LightUser[]>> => {
  const byGroup = new Map<number, LightUser[]>(groupIds.map((id) => [id, []]));
  for (const { groupID, id, email, realName } of await members.all(executor, { ids: JSON.stringify(groupIds) })) {
    byGroup.get(groupID)?.push({ id, email, realName });
  }
  return byGroup;
};

// The column holds JSON written by this code, so the exact text of one permission is known.
const administrators = statement((db, _: object) =>
  db
    .selectFrom('users')
    .innerJoin('groups', 'groups.id', 'users.groupID')
    .select(sql<number>`count(*)`.as('total'))
    .where('users.isActive', '=', 1)
    .where('users.deletedAt', 'is', null)
    .where('groups.permissions', 'like', '%{"value":1}%'),
);

/** The number of active administrators. */
export const countAdministrators = async (executor: Executor) =>
  Number((await administrators.first(executor, {}))?.total ?? 0);
