import { ApplicationConfig } from '@rushhour/protocol';
import type { Engine } from '../../engine.ts';
import { streamPathName } from '../../net/data-path.ts';
import { prepareApplicationClient } from './client.ts';
import { prepareApplicationServer } from './server.ts';

/** Replays recorded applications over real sockets; each side verifies what the other sends. */
export const application: Engine<ApplicationConfig> = {
  id: 'application',
  config: ApplicationConfig,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map(({ host }) => host) : []),
  check: async () => ({ isAvailable: true, path: streamPathName() }),
  prepare({ config, ...context }) {
    return config.role === 'client'
      ? prepareApplicationClient({ ...context, config })
      : prepareApplicationServer({ ...context, config });
  },
};
