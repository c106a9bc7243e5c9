import type { Socket as DatagramSocket } from 'node:dgram';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { DnsServerConfig } from '@rushhour/protocol';
import type { EngineContext, Run, Samples } from '../../engine.ts';
import { aborted } from '../../net/aborted.ts';
import { bindAll, closeSockets } from '../../net/datagram.ts';
import { codeOf, countError } from '../../net/error-kind.ts';
import { closeServers, listenAll } from '../../net/listen.ts';
import { serverTlsOptions } from '../../net/tls-options.ts';
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
  socket.on('error', (error) => countError(samples, 'dns', codeOf(error)));
};

const serveDatagrams = (socket: DatagramSocket, resolver: Resolver, samples: Samples): void => {
  socket.on('error', (error) => countError(samples, 'dns', codeOf(error)));
  socket.on('message', (message, from) =>
    resolver.resolve(message, 'udp', (answer) => {
      socket.send(answer, from.port, from.address, (error) => {
        if (error) countError(samples, 'dns', codeOf(error));
      });
    }),
  );
};

/** Answers from the names it was given, over every ordered transport. */
export const prepareDnsServer = async (context: EngineContext<DnsServerConfig>): Promise<Run> => {
  const { config, samples, signal } = context;
  const resolver = new Resolver(config, samples);
  const on = (transport: string) => config.listen.filter((entry) => entry.transport === transport);
  const onStream = (socket: Socket) => serveStream(socket, resolver, samples);
  const creators: Record<string, () => Server> = {
    tcp: () => createTcpServer({ noDelay: true }, onStream),
    dot: () => createTlsServer(serverTlsOptions(config.tls, config.listen), onStream),
    doh: () => createDohServer(config, resolver, samples),
  };
  const servers: Server[] = [];
  const sockets = await bindAll(on('udp'), context, (socket) => serveDatagrams(socket, resolver, samples));
  const close = async () => {
    await closeSockets(sockets);
    await closeServers(servers);
  };
  try {
    for (const [transport, create] of Object.entries(creators))
      servers.push(...(await listenAll(on(transport), create, context)));
  } catch (error) {
    await close();
    throw error;
  }
  return { start: () => aborted(signal), close };
};
