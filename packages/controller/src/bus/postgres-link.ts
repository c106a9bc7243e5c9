import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Logger } from 'pino';
import { createAssembly, type MessagePart, partsOf } from './message-parts.ts';
import type { PeerLink } from './peer-link.ts';

const everyone = 'rushhour_peers';
const ownChannel = (id: string) => `rushhour_peer_${id}`;
/** NOTIFY carries less than 8000 bytes; base64 makes four of three. */
const partBytes = 5700;
const retryMs = 1000;
/** Shows in `pg_stat_activity`: how controllers find out whether there are others. */
const applicationName = 'rushhour peer';

/** A part as a text: sender, number of the message, its own number, how many there are, and its bytes. */
const textOf = ({ sender, number, index, count, bytes }: MessagePart) =>
  `${sender} ${number} ${index} ${count} ${bytes.toString('base64')}`;

const partOf = (text: string): MessagePart => {
  const [sender = '', number = '', index = '', count = ''] = text.split(' ', 4);
  const body = text.slice(sender.length + number.length + index.length + count.length + 4);
  return {
    sender,
    number: Number(number),
    index: Number(index),
    count: Number(count),
    bytes: Buffer.from(body, 'base64'),
  };
};

/** Sends what accumulates while the database answers in one statement. */
const createOutbox = (clientOf: () => pg.Client | undefined, log: Logger) => {
  let waiting: [channel: string, payload: string][] = [];
  let sending: Promise<void> | undefined;
  const send = async () => {
    while (waiting.length > 0) {
      const taken = waiting.splice(0);
      const columns = [taken.map(([channel]) => channel), taken.map(([, payload]) => payload)];
      const text = 'SELECT pg_notify(c, p) FROM unnest($1::text[], $2::text[]) AS m(c, p)';
      await clientOf()
        ?.query(text, columns)
        .catch((error) => log.warn({ err: error }, 'could not send a message to other controllers'));
    }
    sending = undefined;
  };
  return {
    add: (channel: string, payloads: readonly string[]) => {
      for (const payload of payloads) waiting.push([channel, payload]);
      sending ??= Promise.resolve().then(send);
    },
    settled: async () => sending,
    clear: () => {
      waiting = [];
    },
  };
};

const countText = `SELECT count(*) AS n FROM pg_stat_activity
  WHERE application_name = $1 AND datname = current_database() AND pid <> pg_backend_pid()`;

/** Messages by NOTIFY of the database that the controllers share. */
export const postgresLink = async (url: string, log: Logger): Promise<PeerLink> => {
  const id = randomUUID().replaceAll('-', '');
  let client: pg.Client | undefined;
  let isClosed = false;
  let number = 0;
  let deliver: (from: string, message: unknown) => void = () => {};
  const resumed: (() => void)[] = [];
  const outbox = createOutbox(() => client, log);

  const retry = () => {
    client = undefined;
    if (!isClosed)
      setTimeout(() => void listen().then(() => resumed.forEach((listener) => void listener()), retry), retryMs);
  };
  const listen = async () => {
    const connection = new pg.Client({ connectionString: url, keepAlive: true, application_name: applicationName });
    connection.on('error', () => {});
    const assemble = createAssembly((from, message) => from !== id && deliver(from, message));
    connection.on('notification', ({ payload = '' }) => assemble(partOf(payload)));
    await connection.connect();
    await connection.query(`LISTEN ${everyone}; LISTEN ${ownChannel(id)}`);
    connection.once('end', retry);
    outbox.clear();
    client = connection;
  };
  await listen();

  return {
    id,
    medium: 'PostgreSQL',
    send: (to, message) => {
      number += 1;
      outbox.add(to === undefined ? everyone : ownChannel(to), partsOf(id, number, message, partBytes).map(textOf));
    },
    receive: (listener) => {
      deliver = listener;
    },
    onResumed: (listener) => void resumed.push(listener),
    countOthers: async () => {
      const found = await client?.query(countText, [applicationName]);
      return Number(found?.rows[0]?.n ?? 0);
    },
    close: async () => {
      isClosed = true;
      await outbox.settled();
      await client?.end();
    },
  };
};
