import { HttpConfig } from '@rushhour/protocol';
import type { Divisible, Engine } from '../../engine.ts';
import { streamPathName } from '../../net/data-path.ts';
import { loadShare, shareOf, usersOf } from '../../net/load/share.ts';
import { quicPathName } from '../../net/quic/quic-path.ts';
import { securePathName } from '../../net/secure-path.ts';
import { withCertificate } from '../../net/tls/tls-options.ts';
import { prepareHttpClient } from './client.ts';
import { prepareJourneyClient } from './journeys/client.ts';
import { prepareHttpServer } from './server.ts';

/** HTTP/1.1, HTTP/2 and HTTP/3, both sides. */
export const http: Engine<HttpConfig> & Divisible<HttpConfig> = {
  id: 'http',
  config: HttpConfig,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map((target) => target.host) : []),
  check: async () => ({
    isAvailable: true,
    path: `${streamPathName()}; TLS by ${securePathName()}; ${quicPathName()}`,
  }),
  prepare({ config, ...context }) {
    if (config.role === 'server') return prepareHttpServer({ ...context, config });
    const { journeys } = config;
    return journeys === undefined
      ? prepareHttpClient({ ...context, config })
      : prepareJourneyClient({ ...context, config: { ...config, journeys } });
  },
  divide(config, index, count) {
    if (config.role === 'server') {
      return config.tls === undefined ? config : { ...config, tls: withCertificate(config.tls, config.listen) };
    }
    const { load, sessionsPerSecond, totalSessions, journeys } = config;
    const shares = Array.from({ length: count }, (_, core) => Math.max(1, shareOf(config.connections, core, count)));
    return {
      ...config,
      connections: shares[index] as number,
      ...(journeys && { journeys: { ...journeys, ...usersOf(shares, index) } }),
      ...(config.openSessions !== undefined && { openSessions: config.openSessions / count }),
      load: loadShare(load, count),
      ...(sessionsPerSecond !== undefined && { sessionsPerSecond: sessionsPerSecond / count }),
      ...(totalSessions !== undefined && { totalSessions: shareOf(totalSessions, index, count) }),
    };
  },
};
