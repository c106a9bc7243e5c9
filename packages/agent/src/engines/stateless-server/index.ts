import { StatelessServerConfig } from '@rushhour/protocol';
import { type EngineContext, engine } from '../../engine.ts';
import { prepareStatelessTcp } from './tcp.ts';
import { prepareStatelessUdp } from './udp.ts';

/** Answers without remembering who asked. */
export const statelessServer = engine({
  id: 'stateless-server',
  config: StatelessServerConfig,
  targetsOf: () => [],
  check: async () => ({ isAvailable: true, way: 'node:dgram, node:net' }),
  prepare: (context: EngineContext<StatelessServerConfig>) =>
    context.config.protocol === 'udp' ? prepareStatelessUdp(context) : prepareStatelessTcp(context),
  divide: (config: StatelessServerConfig, _index: number, count: number): StatelessServerConfig => ({
    ...config,
    maxRate: config.maxRate === 0 ? 0 : Math.max(1, Math.floor(config.maxRate / count)),
  }),
});
