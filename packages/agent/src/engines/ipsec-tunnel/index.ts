import { IpsecTunnelConfig } from '@rushhour/protocol';
import type { Engine } from '../../engine.ts';
import { checkStack } from '../../stack/ports/open-stack.ts';
import { TunnelJob } from './tunnel-job.ts';

/** IPsec tunnels of emulated hosts. */
export const ipsecTunnel: Engine<IpsecTunnelConfig> = {
  id: 'ipsec-tunnel',
  config: IpsecTunnelConfig,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map(({ host }) => host) : []),
  check: async () => checkStack(),
  prepare: async (context) => {
    if (context.hostNetwork === undefined) throw new RangeError('IPsec tunnels need emulated hosts');
    return new TunnelJob(context, context.hostNetwork);
  },
};
