import type { api } from '@rushhour/contract';
import type { Bus, Events } from '../../bus/local.ts';
import type { Caller } from '../../caller.ts';
import { cursorOf } from '../../crud.ts';
import { invalid } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import { allows, effective } from '../../people/permissions.ts';
import type { Executor } from '../../store/engine/database.ts';
import { users } from '../../store/people/users.ts';
import type { Store } from '../../store/store.ts';
import { type Delivery, deliveriesOf } from '../../store/system/deliveries.ts';
import {
  audiencesOf,
  countUnread,
  newestNotification,
  notificationPage,
  notificationsAfter,
  unreadPage,
} from '../../store/system/notifications.ts';

type Stored = Awaited<ReturnType<typeof notificationsAfter>>[number];

export const notificationHandlers = ({
  store,
  bus,
}: {
  store: Store;
  bus: Bus;
}): Handlers<typeof api.notifications> => {
  const readAtOf = async (caller: Caller) => (await users.find(store.read, caller.userId))?.notificationsReadAt ?? null;

  return {
    list: async ({ query: { count = 20, page = 1, order = 'desc', severity, unread, deliveries } }, caller) => {
      const audiences = audiencesFor(caller);
      const readAt = await readAtOf(caller);
      const offset = (page - 1) * count;
      const request = { order, limit: count, offset };
      const { rows, total } = unread
        ? await unreadPage(store.read, { ...request, audiences, severity, after: readAt ?? '' })
        : await notificationPage(store.read, { ...request, audiences, severity });
      caller.setHeader('x-unread-count', String(await countUnread(store.read, audiences, readAt)));
      const data = rows.map((row) => notificationOf(row, readAt));
      const isShown = deliveries === true && allows(caller.permissions, 'settings.read');
      return { cursor: cursorOf(count, offset, total), data: isShown ? await withDeliveries(store.read, data) : data };
    },
    read: ({ body }, caller) =>
      store.change(caller, async (tx) => {
        const at = new Date(body?.at ?? tx.now).toISOString();
        if (at > tx.now) throw invalid([{ path: '/at', code: 'IN_FUTURE', message: 'must not lie in the future' }]);
        const before = (await users.find(tx, caller.userId))?.notificationsReadAt ?? '';
        // Timestamps in one format sort chronologically.
        const [, notificationsReadAt = at] = [at, before].sort();
        await users.update(tx, caller.userId, { notificationsReadAt });
        return {
          data: { notificationsReadAt, unread: await countUnread(tx, audiencesFor(caller), notificationsReadAt) },
        };
      }),
    stream: ({ query }, caller) => streamFor(store, bus, caller, new Set(query.types?.split(','))),
  };
};

const audiencesFor = (caller: Caller) => audiencesOf(caller.userId, effective(caller.permissions));

const notificationOf = (row: Stored, readAt: string | null) => ({
  id: row.id,
  severity: row.severity as 'info' | 'warning' | 'error',
  kind: row.kind,
  message: row.message,
  entity: row.entityType === null ? null : { type: row.entityType, id: row.entityID ?? 0 },
  createdAt: row.createdAt,
  read: readAt !== null && row.createdAt <= readAt,
});

const withDeliveries = async (read: Executor, rows: readonly ReturnType<typeof notificationOf>[]) => {
  const found = await deliveriesOf(
    read,
    rows.map(({ id }) => id),
  );
  const byNotification = Map.groupBy(found, ({ notificationID }) => notificationID);
  return rows.map((row) => ({ ...row, deliveries: (byNotification.get(row.id) ?? []).map(deliveryOf) }));
};

const deliveryOf = ({ channel, target, state, attempts, nextAt, error }: Delivery) => ({
  channel: channel as 'webhook' | 'mail',
  state: state as 'pending' | 'delivered' | 'failed',
  ...{ target, attempts, error, nextAt: state === 'pending' ? nextAt : null },
});

type StreamEvent = { id?: string; event: 'notification' | 'task.status' | 'agent.status' | 'resync'; data: unknown };

/** Stored notifications since the last one seen, then everything as it happens. Ids are the notifications' own. */
async function* streamFor(
  store: Store,
  bus: Bus,
  caller: Caller,
  types: ReadonlySet<string>,
): AsyncGenerator<StreamEvent> {
  const wants = (type: string) => types.size === 0 || types.has(type);
  const audiences = audiencesFor(caller);
  const states: StreamEvent[] = [];
  let wake = () => {};
  const onState = (event: 'task.status' | 'agent.status') => (data: Events['task.status']) => {
    if (!wants(event) || !audiences.includes(`"permission:${data.permission}"`)) return;
    const { permission: _, ...shown } = data;
    states.push({ event, data: shown });
    wake();
  };
  const endings = [
    bus.subscribe('notification', () => wake()),
    bus.subscribe('task.status', onState('task.status')),
    bus.subscribe('agent.status', onState('agent.status')),
  ];
  caller.signal.addEventListener('abort', () => wake(), { once: true });
  try {
    const newest = await newestNotification(store.read);
    const given = Number(caller.lastEventId ?? newest);
    const isKnown = Number.isSafeInteger(given) && given >= 0 && given <= newest;
    let last = isKnown ? given : newest;
    if (!isKnown) yield { id: String(newest), event: 'resync', data: {} };
    while (!caller.signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const rows = wants('notification') ? await notificationsAfter(store.read, audiences, last) : [];
      for (const row of rows) {
        last = row.id;
        yield { id: String(row.id), event: 'notification', data: notificationOf(row, null) };
      }
      yield* states.splice(0);
      if (rows.length === 0 && states.length === 0) await woken;
    }
  } finally {
    for (const end of endings) end();
  }
}
