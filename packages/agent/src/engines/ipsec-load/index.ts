import { IpsecLoadConfig } from '@rushhour/protocol';
import type { Engine } from '../../engine.ts';
import { checkStack } from '../../stack/ports/open-stack.ts';
import { LoadClient } from './load-client.ts';
import { LoadServer } from './load-server.ts';

/** IKE handshakes of emulated hosts, without packets inside. */
export const ipsecLoad: Engine<IpsecLoadConfig> = {
  id: 'ipsec-load',
  config: IpsecLoadConfig,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map(({ host }) => host) : []),
  check: async () => checkStack(),
  prepare: async ({ config, hostNetwork, ...context }) => {
    if (hostNetwork === undefined) throw new RangeError('IKE load needs emulated hosts');
    return config.role === 'client'
      ? new LoadClient({ ...context, config }, hostNetwork)
      : new LoadServer({ ...context, config }, hostNetwork);
  },
};
