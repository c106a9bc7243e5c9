import { sql } from 'kysely';
import type { Executor } from '../engine/database.ts';
import { contains, patternOf } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';

export type KeyState = 'active' | 'disabled' | 'revoked' | 'expired';

const revokedAt = sql.ref('t.revokedAt');
const conditions: Record<KeyState, (now: unknown) => ReturnType<typeof sql>> = {
  revoked: () => sql`${revokedAt} is not null`,
  expired: (now) => sql`${revokedAt} is null and ${sql.ref('t.expiresAt')} <= ${now}`,
  disabled: (now) => sql`${revokedAt} is null and ${sql.ref('t.expiresAt')} > ${now} and ${sql.ref('t.isActive')} = 0`,
  active: (now) => sql`${revokedAt} is null and ${sql.ref('t.expiresAt')} > ${now} and ${sql.ref('t.isActive')} = 1`,
};

export const aiKeys = createTable('aiKeys', {
  filters: {
    q: (pattern: string, engine) => contains('t.name', pattern, engine),
    // PostgreSQL must know the type of a parameter that is compared with nothing.
    revoked: (now: string) => sql`cast(${now} as text) is not null and ${conditions.revoked(now)}`,
    expired: (now: string) => conditions.expired(now),
    disabled: (now: string) => conditions.disabled(now),
    active: (now: string) => conditions.active(now),
  },
});

/** The filters of a list: part of a name, and a state as it is now. */
export const keyFilters = (q: string | undefined, state: KeyState | undefined) => ({
  q: q === undefined ? undefined : patternOf(q),
  ...(state && { [state]: new Date().toISOString() }),
});

/** A key with the present permissions of its owner. Keys of a blocked or deleted owner do not work. */
export const findOwnedKey = statement((db, p: { publicId: string }) =>
  db
    .selectFrom('aiKeys')
    .innerJoin('users', 'users.id', 'aiKeys.issuerID')
    .innerJoin('groups', 'groups.id', 'users.groupID')
    .selectAll('aiKeys')
    .select(['users.realName', 'users.isActive as ownerIsActive', 'users.deletedAt as ownerDeletedAt'])
    .select('groups.permissions as ownerPermissions')
    .where('aiKeys.publicId', '=', p.publicId),
);

const requestsOf = statement((db, p: { keyID: number; day: string }) =>
  db.selectFrom('aiUsage').selectAll().where('keyID', '=', p.keyID).where('day', '=', p.day),
);

const spent = statement((db, p: { keyID: number; since: string }) =>
  db
    .selectFrom('aiApprovals')
    .select([
      sql<number>`coalesce(sum(starts), 0)`.as('starts'),
      sql<number>`coalesce(sum(${sql.ref('agentSeconds')}), 0)`.as('agentSeconds'),
      sql<number>`coalesce(sum(${sql.ref('generatedBytes')}), 0)`.as('generatedBytes'),
      sql<number>`count(*)`.as('approvals'),
    ])
    .where('keyID', '=', p.keyID)
    .where('state', '=', 'used')
    .where('usedAt', '>', p.since),
);

const dayMs = 86_400_000;

/** Requests on the day (UTC) of `now`, and what counts against budgets: that of the 24 hours before it. */
export const usageOfKey = async (read: Executor, keyID: number, now = new Date()) => {
  const day = now.toISOString().slice(0, 10);
  const [counted, used] = await Promise.all([
    requestsOf.first(read, { keyID, day }),
    spent.first(read, { keyID, since: new Date(now.getTime() - dayMs).toISOString() }),
  ]);
  return {
    requests: Number(counted?.requests ?? 0),
    writes: Number(counted?.writes ?? 0),
    denials: Number(counted?.denials ?? 0),
    starts: Number(used?.starts ?? 0),
    agentSeconds: Number(used?.agentSeconds ?? 0),
    generatedBytes: Number(used?.generatedBytes ?? 0),
  };
};

const byName = statement((db, p: { name: string }) => db.selectFrom('aiKeys').select('id').where('name', '=', p.name));

/** Names are unique, including those of revoked keys, because the audit refers to them. */
export const keyNamed = async (executor: Executor, name: string): Promise<number | undefined> =>
  (await byName.first(executor, { name }))?.id;

/** Usage of a key since it was last stored. */
export interface KeyUse {
  keyID: number;
  day: string;
  requests: number;
  writes: number;
  denials: number;
  at: string;
  address: string;
}

const addUse = statement((db, p: KeyUse) =>
  db
    .insertInto('aiUsage')
    .values({ keyID: p.keyID, day: p.day, requests: p.requests, writes: p.writes, denials: p.denials })
    .onConflict((conflict) =>
      conflict.columns(['keyID', 'day']).doUpdateSet({
        requests: sql<number>`${sql.ref('aiUsage.requests')} + excluded.requests`,
        writes: sql<number>`${sql.ref('aiUsage.writes')} + excluded.writes`,
        denials: sql<number>`${sql.ref('aiUsage.denials')} + excluded.denials`,
      }),
    ),
);
const seen = statement((db, p: { keyID: number; at: string; address: string }) =>
  db.updateTable('aiKeys').set({ lastUsedAt: p.at, lastUsedIp: p.address }).where('id', '=', p.keyID),
);

export const noteUse = async (tx: Executor, use: KeyUse) => {
  await addUse.all(tx, use);
  await seen.all(tx, use);
};
