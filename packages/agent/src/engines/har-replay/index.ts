import { HarReplayConfig } from '@rushhour/protocol';
import type { Divisible, Engine } from '../../engine.ts';
import { shareOf } from '../../net/load/share.ts';
import { quicPathName } from '../../net/quic/quic-path.ts';
import { tlsName } from '../../net/secure-path.ts';
import { prepareReplayClient } from './client/client.ts';
import { prepareReplayServer, withNames } from './server/server.ts';

/** Replays HAR recordings: users on the client side, all recorded hosts on the server side. */
export const harReplay: Engine<HarReplayConfig> & Divisible<HarReplayConfig> = {
  id: 'har-replay',
  config: HarReplayConfig,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map(({ host }) => host) : []),
  check: async () => ({
    isAvailable: true,
    path: `HTTP/1.1 and HTTP/2 by node, TLS by ${tlsName()}, ${quicPathName()}`,
  }),
  prepare({ config, ...context }) {
    return config.role === 'client'
      ? prepareReplayClient({ ...context, config })
      : prepareReplayServer({ ...context, config });
  },
  divide(config, index, count) {
    if (config.role === 'server') return { ...config, tls: withNames(config) };
    const { users, firstUser, usersPerSecond } = config;
    const before = Array.from({ length: index }, (_, earlier) => shareOf(users, earlier, count));
    return {
      ...config,
      users: shareOf(users, index, count),
      firstUser: before.reduce((sum, share) => sum + share, firstUser),
      ...(usersPerSecond !== undefined && { usersPerSecond: usersPerSecond / count }),
    };
  },
};
