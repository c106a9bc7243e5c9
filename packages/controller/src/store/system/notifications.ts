import { type Permission, permissions } from '@rushhour/contract';
import { sql } from 'kysely';
import type { Bus } from '../../bus/local.ts';
import type { Change } from '../engine/change.ts';
import type { Database, Executor } from '../engine/database.ts';
import { inTexts } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';
import type { PageRequest } from '../engine/table-statements.ts';

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
    notBefore: (id: number) => sql`t.id >= ${id}`,
    notBehind: (id: number) => sql`t.id <= ${id}`,
  },
});

interface Edge {
  audiences: string;
  severity: string | null;
  /** Records up to the end of the page, less one. */
  skip: number;
}
const edgeStatement = (order: 'asc' | 'desc', isOfSeverity: boolean) =>
  statement((db, p: Edge, engine) => {
    const audiences =
      engine === 'sqlite'
        ? sql`json_each(${p.audiences}) as a`
        : sql`json_array_elements_text(${p.audiences}::json) as a(value)`;
    const severity = isOfSeverity ? sql`and m.severity = ${p.severity}` : sql``;
    const edge = sql`select m.id from notifications as m where m.audience = a.value ${severity} order by m.id ${sql.raw(order)} limit 1 offset ${p.skip}`;
    const farthest = sql.raw(order === 'desc' ? 'max' : 'min');
    const query = sql<{
      id: number | null;
    }>`select ${farthest}(edge) as id from (select (${edge}) as edge from ${audiences}) as e`;
    return { compile: () => query.compile(db) };
  });
const edges = {
  asc: { all: edgeStatement('asc', false), severity: edgeStatement('asc', true) },
  desc: { all: edgeStatement('desc', false), severity: edgeStatement('desc', true) },
};

type PageOf = Omit<PageRequest<object>, 'key'> & { audiences: string; severity?: string | undefined };

/**
 * A page of all that these audiences have, in the order of time. Of each audience at most the records up to the end of
 * the page can be on it: no more are read, however many there are.
 */
export const notificationPage = async (read: Executor, { audiences, severity, order, limit, offset }: PageOf) => {
  const edge = edges[order][severity === undefined ? 'all' : 'severity'];
  const found = await edge.first(read, { audiences, severity: severity ?? null, skip: offset + limit - 1 });
  const id = found?.id ?? undefined;
  const request = { key: 'id', order, limit, offset, filters: { audiences, severity } };
  const within = { ...request.filters, ...(order === 'desc' ? { notBefore: id } : { notBehind: id }) };
  const [rows, total] = await Promise.all([
    notifications.rows(read, { ...request, filters: within }),
    notifications.count(read, request),
  ]);
  return { rows, total };
};

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
