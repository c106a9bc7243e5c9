import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { DnsServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine, Samples } from '../../engine.ts';
import { createDatagramTransport } from '../../net/data-path.ts';
import type { DatagramEvents, DatagramSocket } from '../../net/datagram/datagram-transport.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { countError, errorCodeOf } from '../../net/metrics/count-error.ts';
import { serverTlsOptions } from '../../net/tls/tls-options.ts';
import { closeServers, listenAll } from '../../net/transport/listen-all.ts';
import { Deframer, frame } from './framing.ts';
import { Resolver } from './resolver.ts';

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
  const server = createSecureServer({ ...options, allowHTTP1: true }, (request, response) => {
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

const serveStream = (socket: Socket, resolver: Resolver, samples: Samples): void => {
  const deframer = new Deframer();
  socket.on('data', (bytes: Buffer) =>
    deframer.feed(bytes, (message) =>
      resolver.resolve(message, 'stream', (answer) => {
        if (socket.writable) socket.write(frame(answer));
      }),
    ),
  );
  socket.on('error', (error) => countError(samples, 'dns', errorCodeOf(error)));
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

/** Answers queries from the configured records over all configured transports. */
export const prepareDnsServer = async (context: EngineContext<DnsServerConfig>): Promise<PreparedEngine> => {
  const { config, samples, signal, note, core } = context;
  const resolver = new Resolver(config, samples);
  const on = (transport: string) => config.listen.filter((entry) => entry.transport === transport);
  const onStream = (socket: Socket) => serveStream(socket, resolver, samples);
  const creators: Record<string, () => Server> = {
    tcp: () => createTcpServer({ noDelay: true }, onStream),
    dot: () => createTlsServer(serverTlsOptions(config.tls, config.listen), onStream),
    doh: () => createDohServer(config, resolver, samples),
  };
  const servers: Server[] = [];
  const datagrams = createDatagramTransport({ path: config.dataPath, note, hostNetwork: context.hostNetwork });
  const close = async () => {
    await datagrams.close();
    await closeServers(servers);
  };
  const options = { sendBatch: { count: answersAtOnce, bytes: maxBytes }, receiveBufferBytes, usesSegmentation: true };
  try {
    for (const { host, port } of on('udp')) {
      const where = { host, port, isShared: core.count > 1 };
      await datagrams.bind(where, options, (socket) => datagramEvents(socket, resolver, samples));
    }
    for (const [transport, create] of Object.entries(creators))
      servers.push(...(await listenAll(on(transport), create, context)));
  } catch (error) {
    await close();
    throw error;
  }
  return { start: () => aborted(signal), close };
};
