import { TcpConfig } from '@rushhour/protocol';
import type { Divisible, Engine } from '../../engine.ts';
import { streamPathName } from '../../net/data-path.ts';
import { loadShare, shareOf } from '../../net/load/share.ts';
import { prepareTcpClient } from './client.ts';
import { prepareTcpServer } from './server.ts';

/** TCP connections and bytes, both sides. */
export const tcp: Engine<TcpConfig> & Divisible<TcpConfig> = {
  id: 'tcp',
  config: TcpConfig,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map((target) => target.host) : []),
  check: async () => ({ isAvailable: true, path: streamPathName() }),
  prepare({ config, ...context }) {
    return config.role === 'client'
      ? prepareTcpClient({ ...context, config })
      : prepareTcpServer({ ...context, config });
  },
  divide(config, index, count) {
    if (config.role === 'server') return config;
    const { totalSessions, rateBps } = config;
    return {
      ...config,
      connections: Math.max(1, shareOf(config.connections, index, count)),
      ...(config.openSessions !== undefined && { openSessions: config.openSessions / count }),
      load: loadShare(config.load, count),
      ...(totalSessions !== undefined && { totalSessions: shareOf(totalSessions, index, count) }),
      ...(rateBps !== undefined && { rateBps: rateBps / count }),
    };
  },
};
