import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Logger } from 'pino';

/** Messages between the controllers of one installation. Those to the same controller arrive in order, or not at all. */
export interface PeerLink {
  /** Address of this process, new with every start. */
  readonly id: string;
  /** What carries the messages. */
  readonly medium: string;
  /** To one controller, or to all others. */
  send(to: string | undefined, message: unknown): void;
  /** Call it once. */
  receive(listener: (from: string, message: unknown) => void): void;
  /** Messages may have been missed. */
  onResumed(listener: () => void): void;
  /** How many other controllers are connected now. */
  countOthers(): Promise<number>;
  close(): Promise<void>;
}

const everyone = 'rushhour_peers';
const ownChannel = (id: string) => `rushhour_peer_${id}`;
/** NOTIFY carries less than 8000 bytes; base64 makes four of three. */
const partBytes = 5700;
const retryMs = 1000;
/** Shows in `pg_stat_activity`: how controllers find out whether there are others. */
const applicationName = 'rushhour peer';

/** A text in parts; each begins with the sender, the number of the message, its own number and how many there are. */
const partsOf = (sender: string, number: number, text: string): string[] => {
  const bytes = Buffer.from(text);
  const count = Math.max(1, Math.ceil(bytes.length / partBytes));
  return Array.from({ length: count }, (_, index) => {
    const part = bytes.toString('base64', index * partBytes, (index + 1) * partBytes);
    return `${sender} ${number} ${index} ${count} ${part}`;
  });
};

/** Puts messages together again. Parts of one sender arrive in order; a message with a missing part is dropped. */
const createAssembly = (deliver: (from: string, message: unknown) => void) => {
  const open = new Map<string, { number: string; parts: Buffer[] }>();
  return (payload: string) => {
    const [from = '', number = '', index = '', count = ''] = payload.split(' ', 4);
    const body = payload.slice(from.length + number.length + index.length + count.length + 4);
    const known = open.get(from);
    const message = index === '0' || known?.number !== number ? { number, parts: [] } : known;
    open.delete(from);
    if (message.parts.length !== Number(index)) return;
    message.parts.push(Buffer.from(body, 'base64'));
    if (message.parts.length < Number(count)) open.set(from, message);
    else deliver(from, JSON.parse(Buffer.concat(message.parts).toString()));
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
export const postgresPeerLink = async (url: string, log: Logger): Promise<PeerLink> => {
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
    connection.on('notification', ({ payload = '' }) => assemble(payload));
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
      outbox.add(to === undefined ? everyone : ownChannel(to), partsOf(id, number, JSON.stringify(message)));
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
