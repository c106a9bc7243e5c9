import { UdpConfig } from '@rushhour/protocol';
import type { Divisible, Engine } from '../../engine.ts';
import { datagramPathName } from '../../net/data-path.ts';
import { loadShare, shareOf, usersOf } from '../../net/load/share.ts';
import { prepareUdpClient } from './client.ts';
import { prepareUdpServer } from './server.ts';

/** Sequenced UDP packets: loss, reordering, duplicates, jitter, latency. */
export const udp: Engine<UdpConfig> & Divisible<UdpConfig> = {
  id: 'udp',
  config: UdpConfig,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map((target) => target.host) : []),
  check: async () => ({ isAvailable: true, path: datagramPathName() }),
  prepare({ config, ...context }) {
    return config.role === 'client'
      ? prepareUdpClient({ ...context, config })
      : prepareUdpServer({ ...context, config });
  },
  divide(config, index, count) {
    if (config.role === 'server') return config;
    const shares = Array.from({ length: count }, (_, core) => Math.max(1, shareOf(config.flows, core, count)));
    return {
      ...config,
      flows: shares[index] as number,
      ...(config.drawn && { drawn: { ...config.drawn, ...usersOf(shares, index) } }),
      load: loadShare(config.load, count),
    };
  },
};
