import { TcpConfig } from '@rushhour/protocol';
import { type EngineContext, engine } from '../../engine.ts';
import { loadShare, shareOf } from '../../net/share.ts';
import { prepareTcpClient } from './client.ts';
import { prepareTcpServer } from './server.ts';

/** TCP connections and bytes, both sides. */
export const tcp = engine({
  id: 'tcp',
  config: TcpConfig,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map((target) => target.host) : []),
  check: async () => ({ isAvailable: true, way: 'node:net' }),
  prepare({ config, ...context }: EngineContext<TcpConfig>) {
    return config.role === 'client'
      ? prepareTcpClient({ ...context, config })
      : prepareTcpServer({ ...context, config });
  },
  divide(config: TcpConfig, index: number, count: number): TcpConfig {
    if (config.role === 'server') return config;
    const { totalSessions, rateBps } = config;
    return {
      ...config,
      connections: Math.max(1, shareOf(config.connections, index, count)),
      load: loadShare(config.load, count),
      ...(totalSessions !== undefined && { totalSessions: shareOf(totalSessions, index, count) }),
      ...(rateBps !== undefined && { rateBps: rateBps / count }),
    };
  },
});
