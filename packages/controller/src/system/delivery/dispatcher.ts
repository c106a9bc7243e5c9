import type { Settings } from '@rushhour/contract';
import type { Logger } from 'pino';
import type { Executor } from '../../store/engine/database.ts';
import { mailAddressesOf } from '../../store/people/users.ts';
import type { Store } from '../../store/store.ts';
import {
  addDelivery,
  anyNotificationsAfter,
  claimDelivery,
  type Delivery,
  dueDeliveries,
  findNotification,
  readCursor,
  settleDelivery,
  writeCursor,
} from '../../store/system/deliveries.ts';
import { newestNotification } from '../../store/system/notifications.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { sendMail } from './mail.ts';
import { callWebhook } from './webhook.ts';

interface Deps {
  readonly store: Store;
  readonly settings: Pick<SettingsStore, 'current' | 'openSecret'>;
  readonly log: Logger;
  readonly version: string;
}

type Stored = NonNullable<Awaited<ReturnType<typeof findNotification>>>;

/** Waits before attempts two and later; after the last the delivery has failed. */
const retriesSec = [10, 60, 300, 1800, 7200, 21_600];
/** A delivery whose controller died during an attempt is tried again after this time. */
const claimSec = 60;

const maxAtOnce = 20;

const iso = (ms: number) => new Date(ms).toISOString();

/** Hands new notifications to webhooks and mail addresses, and repeats what was not taken. */
export const createDispatcher = (deps: Deps) => {
  const active = new Set<number>();
  const work = async (delivery: Delivery) => {
    active.add(delivery.id);
    await attempt(deps, delivery)
      .catch((error) => deps.log.error({ err: error, delivery: delivery.id }, 'delivery was not recorded'))
      .finally(() => active.delete(delivery.id));
  };
  return {
    /** Takes up new notifications and begins to send everything that is due; slow targets are not waited for. */
    run: async (): Promise<void> => {
      await takeUp(deps);
      const due = await dueDeliveries(deps.store.read, iso(Date.now()));
      for (const delivery of due.slice(0, maxAtOnce - active.size)) if (!active.has(delivery.id)) void work(delivery);
    },
  };
};

/** Adds deliveries for new notifications. Several controllers may do so at once: each delivery exists once. */
const takeUp = async ({ store, settings }: Deps): Promise<void> => {
  const cursor = await readCursor(store.read);
  const newest = await newestNotification(store.read);
  if (cursor === newest) return;
  await store.database.transaction(async (tx) => {
    const fresh = cursor === undefined ? [] : await anyNotificationsAfter(tx, cursor);
    for (const one of fresh) await addAll(tx, settings.current(), one);
    await writeCursor(tx, fresh.at(-1)?.id ?? newest);
  });
};

const wants = (events: readonly string[], kind: string) =>
  events.some(
    (event) => event === '*' || event === kind || (event.endsWith('.*') && kind.startsWith(event.slice(0, -1))),
  );

const addAll = async (tx: Executor, { webhooks, mail }: Settings, { id, kind, audience }: Stored): Promise<void> => {
  const now = iso(Date.now());
  const urls = webhooks.filter(({ events }) => wants(events, kind)).map(({ url }) => url);
  for (const target of new Set(urls)) await addDelivery(tx, { notificationID: id, channel: 'webhook', target }, now);
  if (mail.host === '' || !wants(mail.events, kind)) return;
  for (const target of await mailAddressesOf(tx, audience)) {
    await addDelivery(tx, { notificationID: id, channel: 'mail', target }, now);
  }
};

const attempt = async (deps: Deps, delivery: Delivery): Promise<void> => {
  const { store, log } = deps;
  const { id, attempts, nextAt, target, channel } = delivery;
  const until = iso(Date.now() + claimSec * 1000);
  if (!(await claimDelivery(store.database, { id, nextAt, until, now: iso(Date.now()) }))) return;
  const error = await send(deps, delivery).then(
    () => '',
    (cause: Error) => cause.message.slice(0, 500) || cause.name,
  );
  const waitSec = retriesSec[attempts];
  const state = error === '' ? 'delivered' : waitSec === undefined ? 'failed' : 'pending';
  const next = state === 'pending' ? iso(Date.now() + (waitSec ?? 0) * 1000) : until;
  await settleDelivery(store.database, { id, state, nextAt: next, error, now: iso(Date.now()) });
  if (error !== '')
    log.warn(
      { channel, target: hostOf(target), attempt: attempts + 1, state, error },
      'notification was not delivered',
    );
};

/** URLs may contain secrets. */
const hostOf = (target: string) => (URL.canParse(target) ? new URL(target).host : target);

const send = async ({ store, settings, version }: Deps, { id, notificationID, channel, target }: Delivery) => {
  const found = await findNotification(store.read, notificationID);
  if (found === undefined) throw new Error('the notification has been deleted');
  const { webhooks, mail, delivery } = settings.current();
  if (channel === 'mail') {
    const password = mail.password === '' ? '' : settings.openSecret(mail.password);
    const subject = `[Rushhour] ${found.message.split('\n')[0]?.slice(0, 150)}`;
    return sendMail(mail, password, {
      to: target,
      subject,
      text: `${found.message}\n\n${found.kind}, ${found.createdAt}\n`,
    });
  }
  const hook = webhooks.find(({ url }) => url === target);
  if (hook === undefined) throw new Error('the webhook has been removed');
  return callWebhook({
    url: target,
    secret: hook.secret ? settings.openSecret(hook.secret) : '',
    body: JSON.stringify(payloadOf(found)),
    headers: { 'user-agent': `Rushhour/${version}`, 'x-rushhour-event': found.kind, 'x-rushhour-delivery': String(id) },
    allowPrivate: delivery.allowPrivateTargets,
    timestamp: Math.floor(Date.now() / 1000),
  });
};

const payloadOf = ({ id, severity, kind, message, entityType, entityID, createdAt }: Stored) => ({
  ...{ id, severity, kind, message, createdAt },
  entity: entityType === null ? null : { type: entityType, id: entityID },
});
