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

interface Within {
  audiences: string;
  /** Empty: any. */
  severity: string;
  notBefore: number;
  notBehind: number;
}

const keptBlocks = statement((db, p: { audiences: string; severity: string }, engine) =>
  db
    .selectFrom('notificationCounts')
    .select(['block', sql<number>`sum("count")`.as('count')])
    .select([sql<string>`min("oldest")`.as('oldest'), sql<string>`max("newest")`.as('newest')])
    .where(inTexts('audience', p.audiences, engine))
    .where(sql<boolean>`(cast(${p.severity} as text) = '' or "severity" = cast(${p.severity} as text))`)
    .groupBy('block')
    .orderBy('block'),
);
/** As many consecutive ids are counted together, see the migrations. */
const blockSize = 4096;
const blocksOf = async (read: Executor, audiences: string, severity = '') =>
  (await keptBlocks.all(read, { audiences, severity })).map((row) => ({ ...row, count: Number(row.count) }));
type Block = Awaited<ReturnType<typeof blocksOf>>[number];
/** The ids of these blocks and of all between them. */
const idsOf = (blocks: readonly number[]) => ({
  notBefore: Math.min(...blocks) * blockSize,
  notBehind: (Math.max(...blocks) + 1) * blockSize - 1,
});
const sumOf = (blocks: readonly Block[]) => blocks.reduce((sum, { count }) => sum + count, 0);

/** The blocks that hold a page, and how many records of the first of them come before it. */
const blocksWith = (blocks: readonly Block[], { limit, offset }: { limit: number; offset: number }) => {
  let skipped = 0;
  let first = 0;
  for (; first < blocks.length && skipped + (blocks[first] as Block).count <= offset; first += 1) {
    skipped += (blocks[first] as Block).count;
  }
  let last = first;
  for (let held = skipped; last < blocks.length && held < offset + limit; last += 1)
    held += (blocks[last] as Block).count;
  return { found: blocks.slice(first, last).map(({ block }) => block), rest: offset - skipped };
};

type PageOf = Omit<PageRequest<object>, 'key'> & { audiences: string; severity?: string | undefined };

/**
 * A page of all that these audiences have, in the order of time. The kept counts tell among which ids it is: no others are
 * read, however many there are.
 */
export const notificationPage = async (read: Executor, { audiences, severity, order, limit, offset }: PageOf) => {
  const blocks = await blocksOf(read, audiences, severity);
  const { found, rest } = blocksWith(order === 'asc' ? blocks : blocks.toReversed(), { limit, offset });
  if (found.length === 0) return { rows: [], total: sumOf(blocks) };
  const filters = { audiences, severity, ...idsOf(found) };
  const rows = await notifications.rows(read, { key: 'id', order, limit, offset: rest, filters });
  return { rows, total: sumOf(blocks) };
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
const countAfter = statement((db, p: Within & { at: string }, engine) =>
  db
    .selectFrom('notifications')
    .select(sql<number>`count(*)`.as('count'))
    .where('createdAt', '>', p.at)
    .where('id', '>=', p.notBefore)
    .where('id', '<=', p.notBehind)
    .where(inTexts('audience', p.audiences, engine))
    .where(sql<boolean>`(cast(${p.severity} as text) = '' or "severity" = cast(${p.severity} as text))`),
);
const newest = statement((db, _: object) =>
  db.selectFrom('notifications').select(sql<number | null>`max(id)`.as('id')),
);

/** What the audiences have not had since the given id, oldest first. */
export const notificationsAfter = (read: Executor, audiences: string, id: number) =>
  newerThan.all(read, { audiences, id });

export const newestNotification = async (read: Executor) => Number((await newest.first(read, {}))?.id ?? 0);

/** Of most blocks all or none are newer than a time. Only in the others notifications are counted. */
export const countUnread = async (read: Executor, audiences: string, readAt: string | null, severity = '') => {
  const at = readAt ?? '';
  const blocks = await blocksOf(read, audiences, severity);
  const mixed = blocks.filter(({ oldest, newest }) => oldest <= at && newest > at);
  if (mixed.length === 0) return sumOf(blocks.filter(({ oldest }) => oldest > at));
  const within = idsOf(mixed.map(({ block }) => block));
  const first = within.notBefore / blockSize;
  const last = (within.notBehind + 1) / blockSize - 1;
  const others = blocks.filter(({ block, oldest }) => oldest > at && (block < first || block > last));
  const counted = await countAfter.first(read, { audiences, severity, at, ...within });
  return sumOf(others) + Number(counted?.count ?? 0);
};

/** A page of what is newer than a time. */
export const unreadPage = async (
  read: Executor,
  { audiences, severity, order, limit, offset, after }: PageOf & { after: string },
) => {
  const filters = { audiences, severity, after };
  const [rows, total] = await Promise.all([
    notifications.rows(read, { key: 'id', order, limit, offset, filters }),
    countUnread(read, audiences, after, severity),
  ]);
  return { rows, total };
};

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
