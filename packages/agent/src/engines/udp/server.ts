import type { UdpServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { createDatagramTransport } from '../../net/data-path.ts';
import type { DatagramEvents, DatagramSocket } from '../../net/datagram/datagram-transport.ts';
import { untilQuiet } from '../../net/load/until-quiet.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { countError } from '../../net/metrics/count-error.ts';
import { udpBufferErrors } from '../../net/metrics/kernel-counters.ts';
import { Receiver } from './receiver.ts';

const largestPacket = 65_535;
const echoesAtOnce = 256;

/** Counts sequenced packets and optionally echoes them. */
export const prepareUdpServer = async (context: EngineContext<UdpServerConfig>): Promise<PreparedEngine> => {
  const { config, samples, signal, note, core, hostNetwork } = context;
  const receiver = new Receiver(samples, 'udp.latency');
  const sent = samples.counter('udp.sent');
  const bufferDrops = samples.counter('udp.bufferDrops');
  const dropsBefore = udpBufferErrors();
  const datagrams = createDatagramTransport({ path: config.dataPath, note, hostNetwork });
  const options = {
    sendBatch: { count: config.echoes ? echoesAtOnce : 1, bytes: largestPacket },
    receiveBufferBytes: config.receiveBufferBytes,
  };
  const createEvents = (socket: DatagramSocket): DatagramEvents => ({
    onMessage(datagram) {
      if (receiver.arrive(datagram) === undefined || !config.echoes) return;
      socket.reply(datagram, datagram.bytes.subarray(datagram.start, datagram.end), 0);
    },
    onSent: () => sent.add(1),
    onFail: (_, code) => countError(samples, 'udp', code),
    onError: (code) => countError(samples, 'udp', code),
  });
  try {
    for (const listen of config.listen) {
      await datagrams.bind({ ...listen, isShared: core.count > 1 }, options, createEvents);
    }
  } catch (error) {
    await datagrams.close();
    throw error;
  }
  const countDrops = () => bufferDrops.add(udpBufferErrors() - dropsBefore - bufferDrops.value);
  const watch = setInterval(countDrops, 200);
  return {
    async start() {
      await aborted(signal);
      await untilQuiet(samples.counter('udp.received'));
    },
    async close() {
      clearInterval(watch);
      countDrops();
      await datagrams.close();
    },
  };
};
