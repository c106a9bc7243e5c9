import type { HttpServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { createStreamTransport } from '../../net/data-path.ts';
import { chooserOf } from '../../net/load/rotation.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { IndexedSet } from '../../net/loop/indexed-set.ts';
import { createSecureServer, tlsMetrics } from '../../net/secure-path.ts';
import type { Connection, ConnectionEvents, Listener, Transport } from '../../net/transport/transport.ts';
import { H2ServerConnection } from './h2-server-connection.ts';
import { KnownHead } from './known-head.ts';
import { ServerMeters } from './meters.ts';
import type { RequestHead } from './request-parser.ts';
import { createResponse } from './response.ts';
import { ServerConnection, type ServerDeps } from './server-connection.ts';

type Context = EngineContext<HttpServerConfig>;

const createTransport = ({ config, note, hostNetwork, samples }: Context, meters: ServerMeters): Transport => {
  const { dataPath, tls, tuning, listen } = config;
  const path = { path: dataPath, note, hostNetwork };
  const options = { noDelay: true, keepAliveSec: 0, readSize: 'small', closesImmediately: false, tuning } as const;
  if (tls === undefined) return createStreamTransport(path, options);
  const observer = { ...tlsMetrics(samples, 'http'), onHandshakeError: (code: string) => meters.error(code) };
  const alpn = config.version === '2' ? ['h2'] : tls.alpn;
  return createSecureServer(tls, { ...path, ...observer, alpn, listen }, options);
};

/** What both versions have in common: a set of connections and how one begins. */
interface Acceptor {
  readonly connections: Iterable<{ sweep(now: number): void }>;
  readonly accept: (connection: Connection) => ConnectionEvents;
}

const createAcceptor = ({ config }: Context, transport: Transport, meters: ServerMeters): Acceptor => {
  const keep = (bytes: Uint8Array) => transport.prepareMessage(bytes);
  const choose = chooserOf(
    config.responses.map((response) => createResponse(response, keep)),
    'roundRobin',
  );
  const next = () => choose(0).next();
  if (config.version === '2') {
    const connections = new IndexedSet<H2ServerConnection>();
    const deps = { next, meters, idleMs: config.keepAlive.idleMs, connections };
    return { connections, accept: (connection) => new H2ServerConnection(connection, deps) };
  }
  const connections = new IndexedSet<ServerConnection>();
  const known = new KnownHead<RequestHead>();
  const deps: ServerDeps = { next, meters, keepAlive: config.keepAlive, transport, known, connections };
  return { connections, accept: (connection) => new ServerConnection(connection, deps) };
};

/** Listens from preparation on, so that clients can connect at the common start. */
export const prepareHttpServer = async (context: Context): Promise<PreparedEngine> => {
  const { config, core, signal, samples } = context;
  const meters = new ServerMeters(samples);
  const transport = createTransport(context, meters);
  const { connections, accept } = createAcceptor(context, transport, meters);
  const { idleMs } = config.keepAlive;
  const sweep = () => {
    const now = performance.now();
    for (const connection of connections) connection.sweep(now);
  };
  const sweeper = idleMs > 0 ? setInterval(sweep, Math.min(100, Math.max(5, idleMs / 4))) : undefined;
  const listeners: Listener[] = [];
  const close = async () => {
    clearInterval(sweeper);
    await Promise.all(listeners.map((listener) => listener.close()));
    await transport.close();
  };
  try {
    for (const listen of config.listen)
      listeners.push(await transport.listen({ ...listen, isShared: core.count > 1 }, accept));
  } catch (error) {
    await close();
    throw error;
  }
  return { start: () => aborted(signal), close };
};
