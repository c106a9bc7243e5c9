import { hkdfSync } from 'node:crypto';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { createAssembly, partsOf } from './message-parts.ts';
import type { FastLink } from './peer-link.ts';
import { createReplayGuard, openPart, sealBytes, sealPart } from './peer-seal.ts';

interface Options {
  /** `nats://` or `tls://` addresses, separated by commas. */
  readonly url: string;
  /** Address of this process. */
  readonly id: string;
  /** Installations that share a server do not see each other's messages. */
  readonly installation: string;
  /** Known to all controllers of the installation, and to nobody else: the server cannot read what it carries. */
  readonly secret: Buffer;
  readonly log: Logger;
}

const retryMs = 1000;
const connectMs = 3000;
/** A server that does not answer is noticed after two of them. */
const pingMs = 2000;
/** The server's limit is 1 MiB unless it was configured. */
const maxPartBytes = 512 * 1024;

const connectionOptions = (url: string): ConnectionOptions => {
  const urls = url.split(',').map((text) => new URL(text.trim()));
  const { username, password } = urls.find((it) => it.username !== '') ?? { username: '', password: '' };
  const user = decodeURIComponent(username);
  const login = password === '' ? { token: user } : { user, pass: decodeURIComponent(password) };
  return {
    servers: urls.map(({ host }) => host),
    name: 'rushhour',
    ...(user !== '' && login),
    ...(urls.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
    ...{ noEcho: true, maxReconnectAttempts: -1, reconnectTimeWait: retryMs, reconnectJitter: 100 },
    ...{ pingInterval: pingMs, maxPingOut: 2, timeout: connectMs },
  };
};

/** Keys by sender: each is derived once. */
const createKeys = (secret: Buffer) => {
  const keys = new Map<string, Buffer>();
  return (sender: string) => {
    const key = keys.get(sender) ?? Buffer.from(hkdfSync('sha256', secret, '', sender, 32));
    keys.set(sender, key);
    return key;
  };
};

const createReceiver = ({ id, log }: Options, keyOf: (sender: string) => Buffer) => {
  let deliver: (from: string, message: unknown) => void = () => {};
  const isNew = createReplayGuard();
  const assemble = createAssembly((from, messages) => {
    for (const message of messages as unknown[]) deliver(from, message);
  });
  return {
    onMessage: (listener: typeof deliver) => {
      deliver = listener;
    },
    take: (data: Uint8Array) => {
      try {
        const part = openPart(Buffer.from(data), keyOf);
        if (part.sender !== id && isNew(part)) assemble(part);
      } catch (error) {
        log.warn({ err: error }, 'a message that no controller of this installation sent was dropped');
      }
    },
  };
};

/** A connection that is made in the background, and again when the server is back. */
const keepConnected = ({ url, log }: Options, subjects: readonly string[], take: (data: Uint8Array) => void) => {
  const changed: (() => void)[] = [];
  let connection: NatsConnection | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isConnected = false;
  let isClosed = false;

  const set = (now: boolean) => {
    if (isConnected === now) return;
    isConnected = now;
    for (const listener of changed) listener();
  };
  const follow = async (current: NatsConnection) => {
    for await (const { type } of current.status()) {
      if (type === 'disconnect') set(false);
      else if (type === 'reconnect') set(true);
    }
  };
  const tryConnecting = async () => {
    const { connect } = await import('@nats-io/transport-node');
    const current = await connect(connectionOptions(url));
    if (isClosed) return current.close();
    connection = current;
    for (const subject of subjects) current.subscribe(subject, { callback: (_error, { data }) => take(data) });
    await current.flush();
    void follow(current);
    set(true);
  };
  const begin = () => {
    tryConnecting().catch((error) => {
      log.warn({ err: error }, 'could not connect to NATS');
      if (!isClosed) retry = setTimeout(begin, retryMs);
    });
  };
  begin();
  return {
    current: () => (isConnected ? connection : undefined),
    onChange: (listener: () => void) => void changed.push(listener),
    close: async () => {
      isClosed = true;
      clearTimeout(retry);
      await connection?.drain().catch(() => {});
    },
  };
};

/** What is sent in one turn of the event loop to the same subject goes together. */
const createOutbox = (publish: (subject: string, messages: readonly unknown[]) => void) => {
  let waiting: { subject: string; messages: unknown[] }[] = [];
  const flush = () => {
    const taken = waiting;
    waiting = [];
    for (const { subject, messages } of taken) publish(subject, messages);
  };
  return {
    add: (subject: string, message: unknown) => {
      if (waiting.length === 0) setImmediate(flush);
      const last = waiting.at(-1);
      if (last?.subject === subject) last.messages.push(message);
      else waiting.push({ subject, messages: [message] });
    },
    flush,
  };
};

/** Messages by NATS. */
export const natsLink = (options: Options): FastLink => {
  const { id, installation, secret } = options;
  const keyOf = createKeys(secret);
  const receiver = createReceiver(options, keyOf);
  const subjectOf = (peer = 'all') => `rushhour.${installation}.${peer}`;
  const line = keepConnected(options, [subjectOf(), subjectOf(id)], receiver.take);
  let number = 0;
  const outbox = createOutbox((subject, messages) => {
    const connection = line.current();
    if (connection === undefined) return;
    number += 1;
    const limit = Math.min(maxPartBytes, (connection.info?.max_payload ?? maxPartBytes) - sealBytes);
    for (const part of partsOf(id, number, messages, limit)) connection.publish(subject, sealPart(part, keyOf(id)));
  });
  return {
    id,
    medium: 'NATS',
    get isConnected() {
      return line.current() !== undefined;
    },
    onChange: line.onChange,
    receive: receiver.onMessage,
    send: (to, message) => outbox.add(subjectOf(to), message),
    close: async () => {
      outbox.flush();
      await line.close();
    },
  };
};
