import { type Permission, permissions } from '@rushhour/contract';
import { sql } from 'kysely';
import type { Bus } from '../../bus/local.ts';
import type { Change } from '../engine/change.ts';
import type { Database, Executor } from '../engine/database.ts';
import { inTexts } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';

export interface NewNotification {
  severity: 'info' | 'warning' | 'error';
  kind: string;
  message: string;
  entity?: { type: string; id: number };
  /** One user, or everyone who holds the permission. */
  audience: { userID: number } | { permission: Permission };
}

/** The audiences a user belongs to, as a JSON array: one statement serves everyone. */
export const audiencesOf = (userID: number, held: Iterable<number>) =>
  JSON.stringify([`user:${userID}`, ...[...held].map((permission) => `permission:${permission}`)]);

export const notifications = createTable('notifications', {
  filters: {
    audiences: (audiences: string, engine) => inTexts('t.audience', audiences, engine),
    severity: (severity: string) => sql`t.severity = ${severity}`,
    after: (createdAt: string) => sql`${sql.ref('t.createdAt')} > ${createdAt}`,
  },
});

const newerThan = statement((db, p: { audiences: string; id: number }, engine) =>
  db
    .selectFrom('notifications')
    .selectAll()
    .where('id', '>', p.id)
    .where(inTexts('audience', p.audiences, engine))
    .orderBy('id')
    .limit(500),
);
const countAfter = statement((db, p: { audiences: string; at: string }, engine) =>
  db
    .selectFrom('notifications')
    .select(sql<number>`count(*)`.as('unread'))
    .where('createdAt', '>', p.at)
    .where(inTexts('audience', p.audiences, engine)),
);
const newest = statement((db, _: object) =>
  db.selectFrom('notifications').select(sql<number | null>`max(id)`.as('id')),
);

/** What the audiences have not had since the given id, oldest first. */
export const notificationsAfter = (read: Executor, audiences: string, id: number) =>
  newerThan.all(read, { audiences, id });

export const newestNotification = async (read: Executor) => Number((await newest.first(read, {}))?.id ?? 0);

export const countUnread = async (read: Executor, audiences: string, readAt: string | null) =>
  Number((await countAfter.first(read, { audiences, at: readAt ?? '' }))?.unread ?? 0);

/** Stores a notification with the change it is about and returns its id; open streams get it afterwards. */
export const notify = async (tx: Change, bus: Bus, { severity, kind, message, entity, audience }: NewNotification) => {
  const id = await notifications.insert(tx, {
    severity,
    kind,
    message,
    entityType: entity?.type ?? null,
    entityID: entity?.id ?? null,
    audience: 'userID' in audience ? `user:${audience.userID}` : `permission:${permissions[audience.permission]}`,
  });
  tx.afterCommit(() => bus.publish('notification', { id }));
  return id;
};

const sweep = statement((db, p: { before: string }) =>
  db.deleteFrom('notifications').where('createdAt', '<', p.before),
);

/** Forgets notifications older than the setting says. */
export const sweepNotifications = (database: Database, days: number) =>
  database.transaction((tx) => sweep.all(tx, { before: new Date(Date.now() - days * 86_400_000).toISOString() }));
