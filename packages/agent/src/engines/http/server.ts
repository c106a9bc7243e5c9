import type { HttpServerConfig, Listen } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { createStreamTransport } from '../../net/data-path.ts';
import { chooserOf } from '../../net/load/rotation.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { IndexedSet } from '../../net/loop/indexed-set.ts';
import { countMoves } from '../../net/quic/quic-meters.ts';
import { createQuicPath } from '../../net/quic/quic-path.ts';
import { createSecureServer, tlsObserver } from '../../net/secure-path.ts';
import type { Connection, ConnectionEvents, Listener, Transport } from '../../net/transport/transport.ts';
import { GrpcServerConnection, nextAnswerOf } from './grpc/grpc-server-connection.ts';
import { GrpcMeters } from './grpc/meters.ts';
import { KnownHead } from './h1/known-head.ts';
import type { RequestHead } from './h1/request-parser.ts';
import { H2ServerConnection } from './h2/h2-server-connection.ts';
import { H3ServerConnection } from './h3/h3-server-connection.ts';
import { ServerMeters } from './meters.ts';
import { createResponse, type Keep, type Response } from './response.ts';
import { ServerConnection, type ServerDeps } from './server-connection.ts';
import { createWebSocketServer } from './websocket/ws-server.ts';

type Context = EngineContext<HttpServerConfig>;

const createTransport = (context: Context, meters: ServerMeters): Transport => {
  const { config, note, hostNetwork } = context;
  const { dataPath, tls, tuning, listen } = config;
  const path = { path: dataPath, note, hostNetwork };
  const options = { noDelay: true, keepAliveSec: 0, readSize: 'small', closesImmediately: false, tuning } as const;
  if (tls === undefined) return createStreamTransport(path, options);
  const observer = { ...tlsObserver(context, 'http'), onHandshakeError: (code: string) => meters.error(code) };
  const alpn = config.version === '2' ? ['h2'] : tls.alpn;
  return createSecureServer(tls, { ...path, ...observer, alpn, listen }, options);
};

/** What both versions have in common: a set of connections and how one begins. */
interface Acceptor {
  readonly connections: Iterable<{ sweep(now: number): void }>;
  readonly accept: (connection: Connection) => ConnectionEvents;
  /** Ends what the server does without being asked. */
  stop?(): void;
}

/** The responses in turn; those of HTTP/1.1 and HTTP/2 tell where HTTP/3 is, if it is. */
const createNext = ({ responses, altSvc, listen }: HttpServerConfig, keep: Keep): (() => Response) => {
  const offer = { name: 'Alt-Svc', value: `h3=":${listen[0]?.port}"; ma=86400` };
  const choose = chooserOf(
    responses.map((response) =>
      createResponse(altSvc ? { ...response, headers: [...response.headers, offer] } : response, keep),
    ),
    'roundRobin',
  );
  return () => choose(0).next();
};

const createAcceptor = ({ config, samples }: Context, transport: Transport, meters: ServerMeters): Acceptor => {
  const { webSocket } = config;
  if (webSocket !== undefined) {
    return createWebSocketServer({ config, settings: webSocket, transport, meters, samples });
  }
  const { grpc } = config;
  if (grpc !== undefined) {
    const connections = new IndexedSet<GrpcServerConnection>();
    const calls = new GrpcMeters(samples);
    const { idleMs } = config.keepAlive;
    const deps = { settings: grpc, nextAnswer: nextAnswerOf(grpc), meters, calls, idleMs, connections };
    return { connections, accept: (connection) => new GrpcServerConnection(connection, deps) };
  }
  const next = createNext(config, (bytes) => transport.prepareMessage(bytes));
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

/** What listens, whichever the version is. */
interface Service {
  readonly connections: Iterable<{ sweep(now: number): void }>;
  listen(where: Listen & { readonly isShared: boolean }): Promise<Listener>;
  close(): Promise<void>;
}

const createTcpService = (context: Context, meters: ServerMeters): Service => {
  const transport = createTransport(context, meters);
  const { connections, accept, stop } = createAcceptor(context, transport, meters);
  return {
    connections,
    listen: (where) => transport.listen(where, accept),
    close: () => {
      stop?.();
      return transport.close();
    },
  };
};

const createQuicService = (context: Context, meters: ServerMeters): Service => {
  const { config } = context;
  const observer = {
    ...tlsObserver(context, 'http'),
    onHandshakeError: (code: string) => meters.error(code),
    onMove: countMoves(context.samples, 'http'),
  };
  const server = createQuicPath(context).createServer(config.tls, {
    ...observer,
    alpn: ['h3'],
    listen: config.listen,
    sendsRetry: config.retry ?? false,
  });
  const connections = new IndexedSet<H3ServerConnection>();
  const next = createNext({ ...config, altSvc: false }, (bytes) => ({ bytes, address: 0 }));
  const deps = { next, meters, idleMs: config.keepAlive.idleMs, connections };
  return {
    connections,
    listen: (where) => server.listen(where, (connection) => new H3ServerConnection(connection, deps)),
    close: () => server.close(),
  };
};

const createServices = (context: Context, meters: ServerMeters): Service[] => {
  const { version, altSvc } = context.config;
  return [
    ...(version === '3' ? [] : [createTcpService(context, meters)]),
    ...(version === '3' || altSvc ? [createQuicService(context, meters)] : []),
  ];
};

/** Listens from preparation on, so that clients can connect at the common start. */
export const prepareHttpServer = async (context: Context): Promise<PreparedEngine> => {
  const { config, core, signal, samples } = context;
  const services = createServices(context, new ServerMeters(samples));
  const { idleMs } = config.keepAlive;
  const sweep = () => {
    const now = performance.now();
    for (const { connections } of services) for (const connection of connections) connection.sweep(now);
  };
  const sweeper = idleMs > 0 ? setInterval(sweep, Math.min(100, Math.max(5, idleMs / 4))) : undefined;
  const listeners: Listener[] = [];
  const close = async () => {
    clearInterval(sweeper);
    await Promise.all(listeners.map((listener) => listener.close()));
    await Promise.all(services.map((service) => service.close()));
  };
  try {
    for (const listen of config.listen) {
      for (const service of services) listeners.push(await service.listen({ ...listen, isShared: core.count > 1 }));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { start: () => aborted(signal), close };
};
