import {
  createSecureServer as createSecureH2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { Server } from 'node:net';
import type { DnsServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine, Samples } from '../../engine.ts';
import { createDatagramTransport, createStreamTransport } from '../../net/data-path.ts';
import type { DatagramEvents, DatagramSocket } from '../../net/datagram/datagram-transport.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { countError, errorCodeOf } from '../../net/metrics/count-error.ts';
import { createQuicPath } from '../../net/quic/quic-path.ts';
import { createSecureServer, tlsMetrics } from '../../net/secure-path.ts';
import { serverTlsOptions } from '../../net/tls/tls-options.ts';
import { closeServers, listenAll } from '../../net/transport/listen-all.ts';
import type { Connection, ConnectionEvents, Listener, Transport } from '../../net/transport/transport.ts';
import { Deframer, frame } from './framing.ts';
import { Resolver } from './resolver.ts';
import { serveDoq } from './serve-doq.ts';

type Context = EngineContext<DnsServerConfig>;

const maxBytes = 65_535;

const refuse = (response: Http2ServerResponse, status: number): void => {
  response.writeHead(status).end();
};

const readBody = (request: Http2ServerRequest, onBody: (body: Buffer) => void): void => {
  const parts: Buffer[] = [];
  let length = 0;
  request.on('data', (bytes: Buffer) => {
    length += bytes.length;
    if (length <= maxBytes) parts.push(bytes);
  });
  request.on('end', () => onBody(length > maxBytes ? Buffer.alloc(0) : Buffer.concat(parts)));
};

/** DNS over HTTPS (RFC 8484): POST with the message as body, GET with it in `dns`. HTTP/2 or HTTP/1.1. */
const createDohServer = (config: DnsServerConfig, resolver: Resolver, samples: Samples): Server => {
  const options = serverTlsOptions(config.tls, config.listen, ['h2', 'http/1.1']);
  const server = createSecureH2Server({ ...options, allowHTTP1: true }, (request, response) => {
    const url = new URL(request.url ?? '/', 'https://localhost');
    if (url.pathname !== config.path) return refuse(response, 404);
    const answer = (message: Buffer) => {
      if (message.length < 12) return refuse(response, 400);
      resolver.resolve(message, 'stream', (bytes) => {
        response.writeHead(200, { 'content-type': 'application/dns-message', 'content-length': bytes.length });
        response.end(Buffer.from(bytes));
      });
    };
    if (request.method === 'GET') return answer(Buffer.from(url.searchParams.get('dns') ?? '', 'base64url'));
    if (request.method !== 'POST') return refuse(response, 405);
    if (request.headers['content-type'] !== 'application/dns-message') return refuse(response, 415);
    readBody(request, answer);
  });
  server.on('session', (session) => session.on('error', (error) => countError(samples, 'dns', errorCodeOf(error))));
  return server;
};

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

const streamOptions = { noDelay: true, keepAliveSec: 0, readSize: 'small', closesImmediately: false } as const;

/** TCP or TLS. */
const createStreams = (context: Context, kind: 'tcp' | 'dot'): Transport => {
  const { config, samples, note, hostNetwork } = context;
  const path = { path: config.dataPath, note, hostNetwork };
  if (kind === 'tcp') return createStreamTransport(path, streamOptions);
  const onHandshakeError = (code: string) => countError(samples, 'dns', code);
  const observer = { ...tlsMetrics(samples, 'dns'), onHandshakeError };
  const { tls, listen } = config;
  return createSecureServer(tls, { ...path, ...observer, alpn: tls.alpn, listen }, streamOptions);
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
  readonly servers: Server[];
}

const openStreams = async (context: Context, resolver: Resolver, opened: Opened): Promise<void> => {
  const { config, samples, core } = context;
  for (const kind of ['tcp', 'dot'] as const) {
    const wanted = config.listen.filter(({ transport }) => transport === kind);
    if (wanted.length === 0) continue;
    const transport = createStreams(context, kind);
    opened.transports.push(transport);
    const accept = (connection: Connection) => serveStream(connection, resolver, samples);
    for (const { host, port } of wanted)
      opened.listeners.push(await transport.listen({ host, port, isShared: core.count > 1 }, accept));
  }
  const overHttps = config.listen.filter(({ transport }) => transport === 'doh');
  opened.servers.push(...(await listenAll(overHttps, () => createDohServer(config, resolver, samples), context)));
};

const openQuic = async (context: Context, resolver: Resolver, opened: Opened): Promise<void> => {
  const { config, samples, core } = context;
  const wanted = config.listen.filter(({ transport }) => transport === 'doq');
  if (wanted.length === 0) return;
  const onError = (code: string) => countError(samples, 'dns', code);
  const observer = { ...tlsMetrics(samples, 'dns'), onHandshakeError: onError };
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
  const opened: Opened = { transports: [], listeners: [], servers: [] };
  const close = async () => {
    await datagrams.close();
    await Promise.all(opened.listeners.map((listener) => listener.close()));
    await Promise.all(opened.transports.map((transport) => transport.close()));
    await closeServers(opened.servers);
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
