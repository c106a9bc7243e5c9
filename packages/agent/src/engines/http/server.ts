import { createSecureServer as createSecureH2Server, createServer, type ServerHttp2Stream } from 'node:http2';
import type { Server } from 'node:net';
import type { HttpServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { createStreamTransport, noteIgnoredTuning } from '../../net/data-path.ts';
import { chooserOf } from '../../net/load/rotation.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { IndexedSet } from '../../net/loop/indexed-set.ts';
import { createSecureServer, tlsMetrics } from '../../net/secure-path.ts';
import { serverTlsOptions } from '../../net/tls/tls-options.ts';
import { closeServers, listenAll } from '../../net/transport/listen-all.ts';
import type { Listener, Transport } from '../../net/transport/transport.ts';
import { KnownHead } from './known-head.ts';
import { ServerMeters } from './meters.ts';
import type { RequestHead } from './request-parser.ts';
import { createResponse, type Response } from './response.ts';
import { ServerConnection, type ServerDeps } from './server-connection.ts';

const answer = (stream: ServerHttp2Stream, response: Response, isHead: boolean): void => {
  if (stream.destroyed) return;
  const own = Object.fromEntries(response.headers.map(({ name, value }) => [name.toLowerCase(), value]));
  const hasNoBody = response.status === 204 || response.status === 304;
  const length = hasNoBody ? {} : { 'content-length': response.body.length };
  stream.respond({ ':status': response.status, ...length, ...own }, { endStream: isHead || hasNoBody });
  if (!isHead && !hasNoBody) stream.end(response.body);
};

/** HTTP/2 server of Node: cleartext with prior knowledge, or over TLS with ALPN. */
const createH2Server = (
  config: HttpServerConfig,
  deps: { readonly next: () => Response; readonly meters: ServerMeters },
): Server => {
  const { meters } = deps;
  const server =
    config.tls === undefined
      ? createServer()
      : createSecureH2Server(serverTlsOptions(config.tls, config.listen, ['h2']));
  server.on('session', (session) => {
    meters.connections.add(1);
    meters.concurrent.add(1);
    session.on('close', () => meters.concurrent.add(-1));
    session.on('error', (error: NodeJS.ErrnoException) => meters.error(error.code ?? error.message));
  });
  server.on('stream', (stream, headers) => {
    const response = deps.next();
    meters.requests.add(1);
    meters.status(response.status);
    stream.on('error', (error: NodeJS.ErrnoException) => meters.error(error.code ?? error.message));
    stream.on('data', (bytes: Buffer) => meters.rxBytes.add(bytes.length));
    const isHead = headers[':method'] === 'HEAD';
    stream.on('end', () => {
      meters.txBytes.add(isHead ? 0 : response.body.length);
      if (response.delayMs > 0) setTimeout(() => answer(stream, response, isHead), response.delayMs);
      else answer(stream, response, isHead);
    });
  });
  return server;
};

type Context = EngineContext<HttpServerConfig>;

const createTransport = ({ config, note, hostNetwork, samples }: Context, meters: ServerMeters): Transport => {
  const { dataPath, tls, tuning, listen } = config;
  const path = { path: dataPath, note, hostNetwork };
  const options = { noDelay: true, keepAliveSec: 0, readSize: 'small', closesImmediately: false, tuning } as const;
  if (tls === undefined) return createStreamTransport(path, options);
  const observer = { ...tlsMetrics(samples, 'http'), onHandshakeError: (code: string) => meters.error(code) };
  return createSecureServer(tls, { ...path, ...observer, alpn: tls.alpn, listen }, options);
};

const prepareH2 = async (context: Context, meters: ServerMeters): Promise<PreparedEngine> => {
  const { config, signal, note } = context;
  noteIgnoredTuning(note, config.tuning);
  const choose = chooserOf(
    config.responses.map((response) => createResponse(response, (bytes) => ({ bytes, address: 0 }))),
    'roundRobin',
  );
  const deps = { next: () => choose(0).next(), meters, keepAlive: config.keepAlive };
  const servers = await listenAll(config.listen, () => createH2Server(config, deps), context);
  return { start: () => aborted(signal), close: () => closeServers(servers) };
};

const prepareH1 = async (context: Context, meters: ServerMeters): Promise<PreparedEngine> => {
  const { config, core, signal } = context;
  const transport = createTransport(context, meters);
  const keep = (bytes: Uint8Array) => transport.prepareMessage(bytes);
  const choose = chooserOf(
    config.responses.map((response) => createResponse(response, keep)),
    'roundRobin',
  );
  const connections = new IndexedSet<ServerConnection>();
  const known = new KnownHead<RequestHead>();
  const deps: ServerDeps = {
    next: () => choose(0).next(),
    meters,
    keepAlive: config.keepAlive,
    transport,
    known,
    connections,
  };
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
    for (const listen of config.listen) {
      const where = { ...listen, isShared: core.count > 1 };
      listeners.push(await transport.listen(where, (connection) => new ServerConnection(connection, deps)));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { start: () => aborted(signal), close };
};

/** Listens from preparation on, so that clients can connect at the common start. */
export const prepareHttpServer = (context: Context): Promise<PreparedEngine> => {
  const meters = new ServerMeters(context.samples);
  return context.config.version === '2' ? prepareH2(context, meters) : prepareH1(context, meters);
};
