import type { HttpServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { createStreamTransport, noteIgnoredTuning } from '../../net/data-path.ts';
import { chooserOf } from '../../net/load/rotation.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { IndexedSet } from '../../net/loop/indexed-set.ts';
import { serverTlsOptions } from '../../net/tls/tls-options.ts';
import { closeServers, listenAll } from '../../net/transport/listen-all.ts';
import { createNodeTlsTransport } from '../../net/transport/node-transport.ts';
import type { Listener, Transport } from '../../net/transport/transport.ts';
import { createH2Server } from './h2-server.ts';
import { KnownHead } from './known-head.ts';
import type { RequestHead } from './request-parser.ts';
import { createResponse } from './response.ts';
import { ServerConnection, type ServerDeps } from './server-connection.ts';
import { ServerMeters } from './server-meters.ts';

type Context = EngineContext<HttpServerConfig>;

const createTransport = ({ config, note }: Context, meters: ServerMeters): Transport => {
  if (config.tls === undefined) {
    return createStreamTransport(
      { path: config.dataPath, note },
      { noDelay: true, keepAliveSec: 0, readSize: 'small', closesImmediately: false, tuning: config.tuning },
    );
  }
  noteIgnoredTuning(note, config.tuning);
  const onHandshakeError = (code: string) => meters.error(code);
  return createNodeTlsTransport({ server: serverTlsOptions(config.tls, config.listen), onHandshakeError });
};

const prepareH2 = async (context: Context, meters: ServerMeters): Promise<PreparedEngine> => {
  const { config, signal, note } = context;
  noteIgnoredTuning(note, config.tuning);
  const choose = chooserOf(
    config.responses.map((response) => createResponse(response, (bytes) => ({ bytes, address: 0 }))),
    'roundRobin',
  );
  const deps = { next: () => choose(0), meters, keepAlive: config.keepAlive };
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
    next: () => choose(0),
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

/** Listens once prepared, so that clients find it at the common start. */
export const prepareHttpServer = (context: Context): Promise<PreparedEngine> => {
  const meters = new ServerMeters(context.samples);
  return context.config.version === '2' ? prepareH2(context, meters) : prepareH1(context, meters);
};
