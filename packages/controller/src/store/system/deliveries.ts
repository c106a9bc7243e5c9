import { sql } from 'kysely';
import type { RecordOf } from '../engine/column.ts';
import type { Database, Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';
import type { tables } from '../tables/index.ts';

/** A notification on its way to one target. */
export type Delivery = RecordOf<typeof tables.deliveries>;
type Address = Pick<Delivery, 'notificationID' | 'channel' | 'target'>;

const insert = statement((db, p: Address & { now: string }) =>
  db
    .insertInto('deliveries')
    .values({
      ...{ notificationID: p.notificationID, channel: p.channel, target: p.target },
      ...{ state: 'pending', attempts: 0, nextAt: p.now, error: '', createdAt: p.now, updatedAt: p.now },
    } as never)
    .onConflict((conflict) => conflict.columns(['notificationID', 'channel', 'target']).doNothing()),
);
/** Adds a delivery that is due at once; one that exists stays. */
export const addDelivery = (tx: Executor, address: Address, now: string) => insert.all(tx, { ...address, now });

const dueRows = statement((db, p: { now: string }) =>
  db
    .selectFrom('deliveries')
    .selectAll()
    .where('state', '=', 'pending')
    .where('nextAt', '<=', p.now)
    .orderBy('nextAt')
    .limit(100),
);
export const dueDeliveries = (read: Executor, now: string) =>
  dueRows.all(read, { now }) as unknown as Promise<Delivery[]>;

interface Claim {
  readonly id: number;
  readonly nextAt: string;
  readonly until: string;
  readonly now: string;
}
const claim = statement((db, p: Claim) =>
  db
    .updateTable('deliveries')
    .set({ nextAt: p.until, attempts: sql<number>`attempts + 1`, updatedAt: p.now })
    .where('id', '=', p.id)
    .where('state', '=', 'pending')
    .where('nextAt', '=', p.nextAt)
    .returning('id'),
);
/** False when another controller has claimed it. */
export const claimDelivery = async (database: Database, given: Claim): Promise<boolean> =>
  (await database.transaction((tx) => claim.all(tx, given))).length === 1;

type Outcome = Pick<Delivery, 'id' | 'state' | 'nextAt' | 'error'> & { readonly now: string };
const settle = statement((db, p: Outcome) =>
  db
    .updateTable('deliveries')
    .set({ state: p.state, nextAt: p.nextAt, error: p.error, updatedAt: p.now })
    .where('id', '=', p.id),
);
export const settleDelivery = (database: Database, outcome: Outcome) =>
  database.transaction((tx) => settle.all(tx, outcome));

const ofNotifications = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('deliveries')
    .selectAll()
    .where(inList('notificationID', p.ids, engine))
    .orderBy('id'),
);
export const deliveriesOf = (read: Executor, ids: readonly number[]) =>
  ofNotifications.all(read, { ids: JSON.stringify(ids) }) as unknown as Promise<Delivery[]>;

const newestEnqueued = statement((db, _: object) =>
  db.selectFrom('deliveryCursor').select('notificationID').where('id', '=', 1),
);
const moveCursor = statement((db, p: { notificationID: number }) =>
  db
    .insertInto('deliveryCursor')
    .values({ id: 1, notificationID: p.notificationID } as never)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ notificationID: p.notificationID })),
);
/** The last notification that was given to the targets; undefined before the first. */
export const readCursor = async (read: Executor) => (await newestEnqueued.first(read, {}))?.notificationID;
export const writeCursor = (tx: Executor, notificationID: number) => moveCursor.all(tx, { notificationID });

const after = statement((db, p: { id: number }) =>
  db.selectFrom('notifications').selectAll().where('id', '>', p.id).orderBy('id').limit(500),
);
/** Notifications for anyone after an id, oldest first, at most 500. */
export const anyNotificationsAfter = (read: Executor, id: number) => after.all(read, { id });

const one = statement((db, p: { id: number }) => db.selectFrom('notifications').selectAll().where('id', '=', p.id));
export const findNotification = (read: Executor, id: number) => one.first(read, { id });

const sweep = statement((db, p: { before: string }) => db.deleteFrom('deliveries').where('createdAt', '<', p.before));
/** Forgets deliveries as old as the notifications that are forgotten. */
export const sweepDeliveries = (database: Database, days: number) =>
  database.transaction((tx) => sweep.all(tx, { before: new Date(Date.now() - days * 86_400_000).toISOString() }));
