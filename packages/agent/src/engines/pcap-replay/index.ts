import { PcapReplayConfig } from '@rushhour/protocol';
import type { Engine } from '../../engine.ts';
import { checkFrames } from '../../net/frame-path.ts';
import { prepareReplayClient } from './client.ts';
import { recordedDestinations } from './recorded-destinations.ts';
import { prepareReplayServer } from './server.ts';

/** Packets of a capture, from the client's agent and the servers' agents, each when it is due. */
export const pcapReplay: Engine<PcapReplayConfig> = {
  id: 'pcap-replay',
  config: PcapReplayConfig,
  targetsOf(config) {
    // The client answers for both directions: servers are allowed no targets of their own.
    if (config.role === 'server') return [];
    const hosts = config.targets.map(({ host }) => host);
    return config.rewrite.hasNewAddresses ? hosts : [...hosts, ...recordedDestinations(config.capture)];
  },
  check: checkFrames,
  prepare: ({ config, ...context }) =>
    config.role === 'client'
      ? prepareReplayClient({ ...context, config })
      : prepareReplayServer({ ...context, config }),
};
