import { HttpConfig } from '@rushhour/protocol';
import type { Divisible, Engine } from '../../engine.ts';
import { streamPathName } from '../../net/data-path.ts';
import { loadShare, shareOf } from '../../net/load/share.ts';
import { securePathName } from '../../net/secure-path.ts';
import { withCertificate } from '../../net/tls/tls-options.ts';
import { prepareHttpClient } from './client.ts';
import { prepareHttpServer } from './server.ts';

/** HTTP/1.1 and HTTP/2, both sides. */
export const http: Engine<HttpConfig> & Divisible<HttpConfig> = {
  id: 'http',
  config: HttpConfig,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map((target) => target.host) : []),
  check: async () => ({ isAvailable: true, path: `${streamPathName()}; TLS by ${securePathName()}` }),
  prepare({ config, ...context }) {
    return config.role === 'client'
      ? prepareHttpClient({ ...context, config })
      : prepareHttpServer({ ...context, config });
  },
  divide(config, index, count) {
    if (config.role === 'server') {
      return config.tls === undefined ? config : { ...config, tls: withCertificate(config.tls, config.listen) };
    }
    const { load, sessionsPerSecond, totalSessions } = config;
    return {
      ...config,
      connections: Math.max(1, shareOf(config.connections, index, count)),
      load: loadShare(load, count),
      ...(sessionsPerSecond !== undefined && { sessionsPerSecond: sessionsPerSecond / count }),
      ...(totalSessions !== undefined && { totalSessions: shareOf(totalSessions, index, count) }),
    };
  },
};
