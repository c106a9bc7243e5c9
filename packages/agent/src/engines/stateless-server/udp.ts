import type { StatelessServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { bindAll, closeSockets } from '../../net/datagram/bind-all.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { Responder } from './responder.ts';

export const prepareStatelessUdp = async (context: EngineContext<StatelessServerConfig>): Promise<PreparedEngine> => {
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
