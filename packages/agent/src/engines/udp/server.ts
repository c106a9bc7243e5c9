import type { UdpServerConfig } from '@rushhour/protocol';
import type { EngineContext, Run } from '../../engine.ts';
import { aborted } from '../../net/aborted.ts';
import { bindAll, closeSockets } from '../../net/datagram.ts';
import { codeOf, countError } from '../../net/error-kind.ts';
import { udpBufferErrors } from '../../net/kernel-counters.ts';
import { Receiver } from './receiver.ts';

/** Counts numbered packets and, if ordered, sends each of them back. */
export const prepareUdpServer = async (context: EngineContext<UdpServerConfig>): Promise<Run> => {
  const { config, samples, signal } = context;
  const receiver = new Receiver(samples, 'udp.latency');
  const sent = samples.counter('udp.sent');
  const bufferDrops = samples.counter('udp.bufferDrops');
  const dropsBefore = udpBufferErrors();
  const sockets = await bindAll(config.listen, context, (socket) => {
    if (config.receiveBufferBytes > 0) socket.setRecvBufferSize(config.receiveBufferBytes);
    socket.on('error', (error) => countError(samples, 'udp', codeOf(error)));
    socket.on('message', (bytes, from) => {
      if (receiver.arrive(bytes, from) === undefined || !config.echoes) return;
      socket.send(bytes, from.port, from.address, (error) => {
        if (error) countError(samples, 'udp', codeOf(error));
        else sent.add(1);
      });
    });
  });
  const countDrops = () => bufferDrops.add(udpBufferErrors() - dropsBefore - bufferDrops.value);
  const watch = setInterval(countDrops, 200);
  return {
    start: () => aborted(signal),
    async close() {
      clearInterval(watch);
      countDrops();
      await closeSockets(sockets);
    },
  };
};
