import { StatelessServerConfig } from '@rushhour/protocol';
import type { Divisible, Engine } from '../../engine.ts';
import { prepareStatelessTcp } from './tcp.ts';
import { prepareStatelessUdp } from './udp.ts';

/** Answers without remembering who asked. */
export const statelessServer: Engine<StatelessServerConfig> & Divisible<StatelessServerConfig> = {
  id: 'stateless-server',
  config: StatelessServerConfig,
  targetsOf: () => [],
  check: async () => ({ isAvailable: true, path: 'node:dgram, node:net' }),
  prepare: (context) =>
    context.config.protocol === 'udp' ? prepareStatelessUdp(context) : prepareStatelessTcp(context),
  divide: (config, _index, count) => ({
    ...config,
    maxRate: config.maxRate === 0 ? 0 : Math.max(1, Math.floor(config.maxRate / count)),
  }),
};
