import { createServer, type Socket } from 'node:net';
import { StatelessServerConfig } from '@rushhour/protocol';
import type { Divisible, Engine, EngineContext, PreparedEngine } from '../../engine.ts';
import { bindAll, closeSockets } from '../../net/datagram/bind-all.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { closeServers, listenAll } from '../../net/transport/listen-all.ts';
import { chargenText, Responder } from './responder.ts';

const prepareStatelessUdp = async (context: EngineContext<StatelessServerConfig>): Promise<PreparedEngine> => {
  const { config, samples, signal } = context;
  const responder = new Responder(config, samples);
  let isClosed = false;
  const sockets = await bindAll(config.listen, context, (socket) => {
    socket.on('error', (error) => responder.fail(error));
    socket.on('message', (bytes, from) => {
      responder.addPeer(`${from.address} ${from.port}`);
      responder.respond(bytes, (answer, onSent) => {
        if (!isClosed) socket.send(answer, from.port, from.address, onSent);
      });
    });
  });
  return {
    start: () => aborted(signal),
    async close() {
      isClosed = true;
      await closeSockets(sockets);
    },
  };
};

/** Over TCP chargen sends without a request until the peer closes (RFC 864). */
const pour = (socket: Socket, text: Buffer): void => {
  if (socket.writable) socket.write(text, () => setImmediate(pour, socket, text));
};

const prepareStatelessTcp = async (context: EngineContext<StatelessServerConfig>): Promise<PreparedEngine> => {
  const { config, samples, signal } = context;
  const responder = new Responder(config, samples);
  const text = chargenText(95);
  const create = () =>
    createServer({ noDelay: true }, (socket) => {
      responder.addPeer(`${socket.remoteAddress} ${socket.remotePort}`);
      socket.on('error', (error) => responder.fail(error));
      if (config.mode === 'chargen') {
        socket.resume();
        pour(socket, text);
        return;
      }
      socket.on('data', (bytes) =>
        responder.respond(bytes, (answer, onSent) => {
          if (socket.writable) socket.write(answer, onSent);
        }),
      );
    });
  const servers = await listenAll(config.listen, create, context);
  return { start: () => aborted(signal), close: () => closeServers(servers) };
};

/** A server without per-client state. */
export const statelessServer: Engine<StatelessServerConfig> & Divisible<StatelessServerConfig> = {
  id: 'stateless-server',
  config: StatelessServerConfig,
  targetsOf: () => [],
  check: async () => ({ isAvailable: true, path: 'node:dgram, node:net' }),
  prepare: (context) =>
    context.config.protocol === 'udp' ? prepareStatelessUdp(context) : prepareStatelessTcp(context),
  divide: (config, _index, count) => ({
    ...config,
    maxRate: config.maxRate === 0 ? 0 : Math.max(1, Math.floor(config.maxRate / count)),
  }),
};
