import { sql } from 'kysely';
import type { Executor } from '../engine/database.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';

interface GroupColumns {
  groupName: string;
  groupPermissions: string;
}

const ofGroup = (column: 'name' | 'permissions') => () =>
  sql<string>`(select ${sql.ref(`groups.${column}`)} from groups where groups.id = ${sql.ref('t.groupID')})`;

export const users = createTable('users', {
  search: ['email', 'realName'],
  computed: { groupName: ofGroup('name'), groupPermissions: ofGroup('permissions') } satisfies Record<
    keyof GroupColumns,
    unknown
  >,
  filters: {
    groupID: (id: number) => sql`${sql.ref('t.groupID')} = ${id}`,
    isActive: (isActive: number) => sql`${sql.ref('t.isActive')} = ${isActive}`,
  },
});

export type StoredUser = NonNullable<Awaited<ReturnType<typeof users.find>>>;

const byEmail = statement((db, p: { email: string }) =>
  db
    .selectFrom('users')
    .select(['id', 'passwordHash', 'isActive'])
    .where('email', '=', p.email)
    .where('deletedAt', 'is', null),
);

/** E-mail addresses are kept in lower case: one person, one account. */
export const normalEmail = (email: string) => email.trim().toLowerCase();

export const findByEmail = (executor: Executor, email: string) =>
  byEmail.first(executor, { email: normalEmail(email) });

const userCount = statement((db, _: object) => db.selectFrom('users').select(sql<number>`count(*)`.as('total')));

export const countUsers = async (executor: Executor) => Number((await userCount.first(executor, {}))?.total ?? 0);
