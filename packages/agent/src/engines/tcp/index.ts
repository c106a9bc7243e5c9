import { TcpConfig } from '@rushhour/protocol';
import type { Divisible, Engine } from '../../engine.ts';
import { streamPathName } from '../../net/data-path.ts';
import { loadShare, shareOf, usersOf } from '../../net/load/share.ts';
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
    if (config.role === 'server') {
      const { drawn } = config;
      return drawn === undefined ? config : { ...config, drawn: { ...drawn, firstUser: index, users: count } };
    }
    const { totalSessions, rateBps, drawn } = config;
    const shares = Array.from({ length: count }, (_, core) => Math.max(1, shareOf(config.connections, core, count)));
    return {
      ...config,
      connections: shares[index] as number,
      ...(drawn && { drawn: { ...drawn, ...usersOf(shares, index) } }),
      ...(config.openSessions !== undefined && { openSessions: config.openSessions / count }),
      load: loadShare(config.load, count),
      ...(totalSessions !== undefined && { totalSessions: shareOf(totalSessions, index, count) }),
      ...(rateBps !== undefined && { rateBps: rateBps / count }),
    };
  },
};
