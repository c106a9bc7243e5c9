import { TlsConfig } from '@rushhour/protocol';
import type { Divisible, Engine } from '../../engine.ts';
import { loadShare, shareOf } from '../../net/load/share.ts';
import { securePathName } from '../../net/secure-path.ts';
import { withCertificate } from '../../net/tls/tls-options.ts';
import { prepareTlsClient } from './client.ts';
import { prepareTlsServer } from './server.ts';

/** TLS handshakes, both sides. */
export const tls: Engine<TlsConfig> & Divisible<TlsConfig> = {
  id: 'tls',
  config: TlsConfig,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map((target) => target.host) : []),
  check: async () => ({ isAvailable: true, path: securePathName() }),
  prepare({ config, ...context }) {
    return config.role === 'client'
      ? prepareTlsClient({ ...context, config })
      : prepareTlsServer({ ...context, config });
  },
  divide(config, index, count) {
    if (config.role === 'server') return { ...config, tls: withCertificate(config.tls, config.listen) };
    const { totalSessions } = config;
    return {
      ...config,
      connections: Math.max(1, shareOf(config.connections, index, count)),
      load: loadShare(config.load, count),
      ...(totalSessions !== undefined && { totalSessions: shareOf(totalSessions, index, count) }),
    };
  },
};
