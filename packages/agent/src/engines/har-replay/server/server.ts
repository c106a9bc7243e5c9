import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import type { HarAnswers, HarReplayServerConfig, TlsServerSettings } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../../engine.ts';
import { aborted } from '../../../net/loop/aborted.ts';
import { countError, errorCodeOf } from '../../../net/metrics/count-error.ts';
import { createQuicPath } from '../../../net/quic/quic-path.ts';
import type { QuicServer } from '../../../net/quic/quic-server.ts';
import { tlsObserver } from '../../../net/secure-path.ts';
import { createSecureSockets } from '../../../net/secure-sockets.ts';
import { withCertificate } from '../../../net/tls/tls-options.ts';
import { closeServers, listenAll } from '../../../net/transport/listen-all.ts';
import { type ByteCounters, ByteMeter } from '../client/http-connection.ts';
import { createReplayPorts, type ReplayPorts } from '../replay-ports.ts';
import { H3ReplayServer } from './h3-replay-server.ts';
import { readNodeRequest, sendNodeReply } from './node-reply.ts';
import { Responder } from './responder.ts';

type Context = EngineContext<HarReplayServerConfig>;

const lookMs = 200;

/** The self-signed certificate contains the names of all recorded hosts. */
export const withNames = ({ tls, names, listen }: HarReplayServerConfig): TlsServerSettings =>
  withCertificate(tls, [...names.map((host) => ({ host, port: 443 })), ...listen]);

/** Counts the bytes of all connections, periodically and at close. */
const createByteWatch = (counters: ByteCounters) => {
  const meters = new Set<ByteMeter>();
  const look = () => {
    for (const meter of meters) meter.look();
  };
  const looking = setInterval(look, lookMs);
  const watch = (socket: Socket) => {
    const meter = new ByteMeter(socket, counters);
    meters.add(meter);
    socket.on('close', () => {
      meter.look();
      meters.delete(meter);
    });
  };
  return { watch, look, close: () => clearInterval(looking) };
};

interface Deps {
  readonly responder: Responder;
  readonly counters: ByteCounters;
  readonly onError: (code: string) => void;
}

/** HTTP/3 on the same ports; undefined where the recording has none. */
const openHttp3 = async (context: Context, deps: Deps): Promise<QuicServer | undefined> => {
  const { config, hostNetwork, core } = context;
  if (!config.http3) return undefined;
  const server = createQuicPath({ config: {}, hostNetwork }).createServer(withNames(config), {
    ...tlsObserver(context, 'har-replay'),
    alpn: ['h3'],
    listen: config.listen,
    sendsRetry: false,
    onHandshakeError: deps.onError,
  });
  try {
    for (const { host, port } of config.listen) {
      const where = { host, port, isShared: core.count > 1 };
      await server.listen(where, (connection) => new H3ReplayServer(connection, deps));
    }
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
};

const openPorts = (context: Context, bytes: ReturnType<typeof createByteWatch>, { responder, onError }: Deps) => {
  const { config, note } = context;
  const alpn = config.tls.alpn.length > 0 ? config.tls.alpn : ['h2', 'http/1.1'];
  return createReplayPorts({
    createSecure: (onSecure) =>
      createSecureSockets(
        withNames(config),
        { alpn, listen: config.listen, note, onHandshakeError: onError, ...tlsObserver(context, 'har-replay') },
        onSecure,
      ),
    onRequest: (request, reply) => {
      reply.on('error', (error: Error) => onError(errorCodeOf(error)));
      responder
        .answer(readNodeRequest(request))
        .then((outgoing) => sendNodeReply(reply, outgoing))
        .catch((error: Error) => {
          onError(errorCodeOf(error));
          reply.destroy();
        });
    },
    onSocket: bytes.watch,
    onError,
  });
};

/** Listens from preparation on, so that clients can connect at the common start. */
export const prepareReplayServer = async (context: Context): Promise<PreparedEngine> => {
  const { config, samples, signal } = context;
  const { answers } = JSON.parse(readFileSync(config.answers, 'utf8')) as HarAnswers;
  const deps: Deps = {
    responder: new Responder(answers, config.mode, samples),
    counters: { txBytes: samples.counter('har-replay.txBytes'), rxBytes: samples.counter('har-replay.rxBytes') },
    onError: (code) => countError(samples, 'har-replay', code),
  };
  const bytes = createByteWatch(deps.counters);
  const opened: { servers: Server[]; ports?: ReplayPorts; quic?: QuicServer | undefined } = { servers: [] };
  const close = async () => {
    bytes.close();
    await opened.quic?.close();
    await closeServers(opened.servers);
    await opened.ports?.close();
  };
  try {
    opened.ports = openPorts(context, bytes, deps);
    opened.servers = await listenAll(config.listen, opened.ports.create, context);
    opened.quic = await openHttp3(context, deps);
  } catch (error) {
    await close();
    throw error;
  }
  return { start: () => aborted(signal).then(bytes.look), close };
};
