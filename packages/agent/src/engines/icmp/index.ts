import { IcmpConfig } from '@rushhour/protocol';
import type { Engine } from '../../engine.ts';
import { probeIcmp } from '../../net/icmp/icmp-socket.ts';
import { probeEpoll } from '../../net/path-probe.ts';
import { prepareIcmpClient } from './client.ts';
import { prepareIcmpServer } from './server.ts';

/** ICMP echo: loss, round-trip times, and unreachable messages by code. */
export const icmp: Engine<IcmpConfig> = {
  id: 'icmp',
  config: IcmpConfig,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map(({ host }) => host) : []),
  check: async () => {
    const reasons = [probeEpoll(), probeIcmp('raw'), probeIcmp('ping')];
    if (reasons[0] === undefined && reasons[1] === undefined) return { isAvailable: true, path: 'raw socket' };
    if (reasons[0] === undefined && reasons[2] === undefined) return { isAvailable: true, path: 'ping socket' };
    const reason = reasons.filter((one) => one !== undefined).join('; ');
    return { isAvailable: false, missing: ['raw sockets'], reason };
  },
  prepare: ({ config, ...context }) =>
    config.role === 'client' ? prepareIcmpClient({ ...context, config }) : prepareIcmpServer({ ...context, config }),
};
