import { Rocev2Config } from '@rushhour/protocol';
import type { Engine } from '../../engine.ts';
import { checkStack } from '../../stack/ports/open-stack.ts';
import { prepareRocev2Client } from './client.ts';
import { prepareRocev2Server } from './server.ts';

/** RDMA over UDP: reliable queue pairs, their messages and what congestion does to them. */
export const rocev2: Engine<Rocev2Config> = {
  id: 'rocev2',
  config: Rocev2Config,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map(({ host }) => host) : []),
  check: async () => checkStack(),
  prepare: ({ config, ...context }) =>
    config.role === 'client'
      ? prepareRocev2Client({ ...context, config })
      : prepareRocev2Server({ ...context, config }),
};
