import type { TcpServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { createStreamTransport } from '../../net/data-path.ts';
import { payloadBytes } from '../../net/load/payload.ts';
import { aborted } from '../../net/loop/aborted.ts';
import type { Listener } from '../../net/transport/transport.ts';
import { TcpServerConnection } from './server-connection.ts';

const bulkBytes = 1_048_576;

/** Takes everything, sends it back, or sends without being asked. */
export const prepareTcpServer = async (context: EngineContext<TcpServerConfig>): Promise<PreparedEngine> => {
  const { config, samples, signal, note, core } = context;
  const { noDelay, tuning } = config;
  const options = { noDelay, keepAliveSec: 0, readSize: 'large', closesImmediately: false, tuning } as const;
  const transport = createStreamTransport({ path: config.dataPath, note }, options);
  const configureOrClose = payloadBytes(config.payload);
  const deps = {
    config,
    samples,
    payload: transport.prepareMessage(configureOrClose.length > 0 ? configureOrClose : Buffer.alloc(bulkBytes)),
    meters: {
      accepted: samples.counter('tcp.accepted'),
      active: samples.gauge('tcp.active'),
      txBytes: samples.counter('tcp.txBytes'),
      rxBytes: samples.counter('tcp.rxBytes'),
    },
  };
  const listeners: Listener[] = [];
  const close = async () => {
    await Promise.all(listeners.map((listener) => listener.close()));
    await transport.close();
  };
  try {
    for (const listen of config.listen) {
      const where = { ...listen, isShared: core.count > 1 };
      listeners.push(await transport.listen(where, (connection) => new TcpServerConnection(connection, deps)));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { start: () => aborted(signal), close };
};
