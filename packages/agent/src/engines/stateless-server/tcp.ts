import { createServer, type Socket } from 'node:net';
import type { StatelessServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { closeServers, listenAll } from '../../net/transport/listen-all.ts';
import { chargenText, Responder } from './responder.ts';

/** By TCP chargen does not wait to be asked (RFC 864): it pours until the peer leaves. */
const pour = (socket: Socket, text: Buffer): void => {
  if (socket.writable) socket.write(text, () => setImmediate(pour, socket, text));
};

export const prepareStatelessTcp = async (context: EngineContext<StatelessServerConfig>): Promise<PreparedEngine> => {
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
