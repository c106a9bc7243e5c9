import { permissions } from '@rushhour/contract';
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

const withGroups = statement((db, _: object) =>
  db
    .selectFrom('users')
    .innerJoin('groups', 'groups.id', 'users.groupID')
    .select(['users.id', 'users.email', 'groups.permissions'])
    .where('users.isActive', '=', 1)
    .where('users.deletedAt', 'is', null)
    .orderBy('users.id'),
);
/** Mail addresses of the active users of an audience: `user:<id>`, or all who hold `permission:<integer>`. */
export const mailAddressesOf = async (read: Executor, audience: string): Promise<string[]> => {
  const found = await withGroups.all(read, {});
  const isIn = ({ id, permissions: held }: (typeof found)[number]) => {
    const integers = (JSON.parse(held) as { value: number }[]).map(({ value }) => value);
    return (
      [`user:${id}`, ...integers.map((integer) => `permission:${integer}`)].includes(audience) ||
      isAdminOf(integers, audience)
    );
  };
  return [...new Set(found.filter(isIn).map(({ email }) => email))];
};

const isAdminOf = (held: readonly number[], audience: string) =>
  audience.startsWith('permission:') && held.includes(permissions['system.admin']);
