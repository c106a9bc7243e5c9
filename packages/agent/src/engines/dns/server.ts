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
import { createDohServer } from './doh-server.ts';
import { Deframer, frame } from './framing.ts';
import { Resolver } from './resolver.ts';

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

const maxBytes = 65_535;
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

/** Answers from the names it was given, over every ordered transport. */
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
  const datagrams = createDatagramTransport({ path: config.dataPath, note });
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
