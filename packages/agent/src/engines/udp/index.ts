import { UdpConfig } from '@rushhour/protocol';
import type { Divisible, Engine } from '../../engine.ts';
import { datagramPathName } from '../../net/data-path.ts';
import { loadShare, shareOf } from '../../net/load/share.ts';
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
    return {
      ...config,
      flows: Math.max(1, shareOf(config.flows, index, count)),
      load: loadShare(config.load, count),
    };
  },
};
