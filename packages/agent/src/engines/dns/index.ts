import { DnsConfig } from '@rushhour/protocol';
import type { Divisible, Engine } from '../../engine.ts';
import { datagramPathName } from '../../net/data-path.ts';
import { loadShare, shareOf } from '../../net/load/share.ts';
import { securePathName } from '../../net/secure-path.ts';
import { withCertificate } from '../../net/tls/tls-options.ts';
import { prepareDnsClient } from './client.ts';
import { prepareDnsServer } from './server.ts';

/** DNS client and server over UDP, TCP, TLS, HTTPS and QUIC. */
export const dns: Engine<DnsConfig> & Divisible<DnsConfig> = {
  id: 'dns',
  config: DnsConfig,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map((target) => target.host) : []),
  check: async () => ({ isAvailable: true, path: `${datagramPathName()}; TLS by ${securePathName()}` }),
  prepare({ config, ...context }) {
    return config.role === 'client'
      ? prepareDnsClient({ ...context, config })
      : prepareDnsServer({ ...context, config });
  },
  divide(config, index, count) {
    if (config.role === 'server') return { ...config, tls: withCertificate(config.tls, config.listen) };
    return {
      ...config,
      sockets: Math.max(1, shareOf(config.sockets, index, count)),
      concurrency: Math.max(1, shareOf(config.concurrency, index, count)),
      ...(config.drawn && { drawn: { ...config.drawn, firstUser: index, users: count } }),
      load: loadShare(config.load, count),
    };
  },
};
