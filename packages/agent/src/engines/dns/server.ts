import type { DnsServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine, Samples } from '../../engine.ts';
import { createDatagramTransport, createStreamTransport } from '../../net/data-path.ts';
import type { DatagramEvents, DatagramSocket } from '../../net/datagram/datagram-transport.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { countError } from '../../net/metrics/count-error.ts';
import { countMoves } from '../../net/quic/quic-meters.ts';
import { createQuicPath } from '../../net/quic/quic-path.ts';
import { createSecureServer, tlsObserver } from '../../net/secure-path.ts';
import type { Connection, ConnectionEvents, Listener, Transport } from '../../net/transport/transport.ts';
import { Deframer, frame } from './framing.ts';
import { Resolver } from './resolver.ts';
import { createDohAcceptor, dohProtocols } from './serve-doh.ts';
import { serveDoq } from './serve-doq.ts';

type Context = EngineContext<DnsServerConfig>;

const maxBytes = 65_535;

const serveStream = (connection: Connection, resolver: Resolver, samples: Samples): ConnectionEvents => {
  const deframer = new Deframer();
  let isOpen = true;
  return {
    onOpen() {},
    onData({ bytes, start, end }) {
      deframer.feed(bytes.subarray(start, end), (message) =>
        resolver.resolve(message, 'stream', (answer) => {
          if (isOpen) connection.writeCopy(frame(answer));
        }),
      );
    },
    onClose(code) {
      isOpen = false;
      if (code !== undefined) countError(samples, 'dns', code);
    },
  };
};

type StreamKind = 'tcp' | 'dot' | 'doh';

const streamOptions = { noDelay: true, keepAliveSec: 0, readSize: 'small', closesImmediately: false } as const;

/** TCP, TLS or HTTPS. */
const createStreams = (context: Context, kind: StreamKind): Transport => {
  const { config, samples, note, hostNetwork } = context;
  const path = { path: config.dataPath, note, hostNetwork };
  if (kind === 'tcp') return createStreamTransport(path, streamOptions);
  const onHandshakeError = (code: string) => countError(samples, 'dns', code);
  const observer = { ...tlsObserver(context, 'dns'), onHandshakeError };
  const { tls, listen } = config;
  const alpn = kind === 'doh' ? dohProtocols : tls.alpn;
  return createSecureServer(tls, { ...path, ...observer, alpn, listen }, streamOptions);
};

const answersAtOnce = 256;
const receiveBufferBytes = 4_194_304;

const datagramEvents = (socket: DatagramSocket, resolver: Resolver, samples: Samples): DatagramEvents => ({
  onMessage(datagram) {
    const message = datagram.bytes.subarray(datagram.start, datagram.end);
    if (resolver.isDelayed) {
      const reply = socket.createReply(datagram);
      resolver.resolve(message, 'udp', (answer) => reply(answer, 0));
    } else resolver.resolve(message, 'udp', (answer) => socket.reply(datagram, answer, 0));
  },
  onSent() {},
  onFail: (_, code) => countError(samples, 'dns', code),
  onError: (code) => countError(samples, 'dns', code),
});

/** What a server listens with, in the order it is opened. */
interface Opened {
  readonly transports: { close(): Promise<void> }[];
  readonly listeners: Listener[];
}

const openStreams = async (context: Context, resolver: Resolver, opened: Opened): Promise<void> => {
  const { config, samples, core } = context;
  const onError = (code: string) => countError(samples, 'dns', code);
  const acceptDoh = createDohAcceptor({ path: config.path, resolver, onError });
  for (const kind of ['tcp', 'dot', 'doh'] as const) {
    const wanted = config.listen.filter(({ transport }) => transport === kind);
    if (wanted.length === 0) continue;
    const transport = createStreams(context, kind);
    opened.transports.push(transport);
    const accept = kind === 'doh' ? acceptDoh : (connection: Connection) => serveStream(connection, resolver, samples);
    for (const { host, port } of wanted)
      opened.listeners.push(await transport.listen({ host, port, isShared: core.count > 1 }, accept));
  }
};

const openQuic = async (context: Context, resolver: Resolver, opened: Opened): Promise<void> => {
  const { config, samples, core } = context;
  const wanted = config.listen.filter(({ transport }) => transport === 'doq');
  if (wanted.length === 0) return;
  const onError = (code: string) => countError(samples, 'dns', code);
  const observer = {
    ...tlsObserver(context, 'dns'),
    onHandshakeError: onError,
    onMove: countMoves(samples, 'dns'),
  };
  const server = createQuicPath(context).createServer(config.tls, {
    ...observer,
    alpn: ['doq'],
    listen: config.listen,
    sendsRetry: false,
  });
  opened.transports.push(server);
  for (const { host, port } of wanted) {
    const where = { host, port, isShared: core.count > 1 };
    opened.listeners.push(await server.listen(where, (connection) => serveDoq(connection, resolver, onError)));
  }
};

/** Answers queries from the configured records over all configured transports. */
export const prepareDnsServer = async (context: Context): Promise<PreparedEngine> => {
  const { config, samples, signal, note, core } = context;
  const resolver = new Resolver(config, samples);
  const datagrams = createDatagramTransport({ path: config.dataPath, note, hostNetwork: context.hostNetwork });
  const opened: Opened = { transports: [], listeners: [] };
  const close = async () => {
    await datagrams.close();
    await Promise.all(opened.listeners.map((listener) => listener.close()));
    await Promise.all(opened.transports.map((transport) => transport.close()));
  };
  const options = { sendBatch: { count: answersAtOnce, bytes: maxBytes }, receiveBufferBytes, usesSegmentation: true };
  try {
    for (const { host, port } of config.listen.filter(({ transport }) => transport === 'udp')) {
      const where = { host, port, isShared: core.count > 1 };
      await datagrams.bind(where, options, (socket) => datagramEvents(socket, resolver, samples));
    }
    await openStreams(context, resolver, opened);
    await openQuic(context, resolver, opened);
  } catch (error) {
    await close();
    throw error;
  }
  return { start: () => aborted(signal), close };
};
