import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Logger } from 'pino';
import { type Bus, type Events, localBus } from './local.ts';

const channel = 'rushhour_events';
const retryMs = 1000;

interface Envelope {
  sender: string;
  name: keyof Events;
  event: never;
}

/**
 * Events between the controllers that share a PostgreSQL database, by its own LISTEN and NOTIFY.
 * An event reaches this process immediately and the others when the database delivers it.
 */
export const postgresBus = async (url: string, log: Logger): Promise<Bus> => {
  const local = localBus();
  const sender = randomUUID();
  let client: pg.Client | undefined;
  let isClosed = false;
  /** One message after the other, in the order of their events. */
  let sending: Promise<unknown> = Promise.resolve();

  const retry = () => {
    if (!isClosed) setTimeout(() => void listen().catch(retry), retryMs);
  };
  const listen = async () => {
    const connection = new pg.Client(url);
    connection.on('error', () => {});
    connection.on('notification', ({ payload }) => {
      const { sender: from, name, event } = JSON.parse(payload ?? '{}') as Envelope;
      if (from !== sender) local.publish(name, event);
    });
    await connection.connect();
    await connection.query(`LISTEN ${channel}`);
    connection.once('end', retry);
    client = connection;
    // Events sent while disconnected are lost: subscribers that cache state reload it.
    local.publish('bus.resumed', undefined);
    local.publish('settings.changed', undefined);
    local.publish('notification', { id: 0 });
  };
  await listen();

  return {
    ...local,
    publish: (name, event) => {
      local.publish(name, event);
      const payload = JSON.stringify({ sender, name, event });
      sending = sending
        .then(() => client?.query('SELECT pg_notify($1, $2)', [channel, payload]))
        .catch((error) => log.warn({ err: error }, 'could not send an event to other controllers'));
    },
    close: async () => {
      isClosed = true;
      await sending;
      await client?.end();
    },
  };
};
