import { closeSync, openSync, readSync } from 'node:fs';
import { CaptureReader, type DestinationSet, destinationsInto } from '@rushhour/pcap';
import { PcapReplayConfig } from '@rushhour/protocol';
import type { Engine } from '../../engine.ts';
import { checkFrames } from '../../net/frame-path.ts';
import { prepareReplayClient } from './client.ts';
import { prepareReplayServer } from './server.ts';

const chunkBytes = 1_048_576;

/** Every address that packets of a capture go to, groups left out. A file that cannot be read has none. */
const recordedDestinations = (path: string): string[] => {
  const found: DestinationSet = new Set();
  try {
    readInto(path, new CaptureReader(destinationsInto(found)));
  } catch {
    // What is wrong with the file is told when it is to be played.
  }
  return [...found];
};

const readInto = (path: string, reader: CaptureReader): void => {
  const fd = openSync(path, 'r');
  try {
    const chunk = Buffer.alloc(chunkBytes);
    for (let count = readSync(fd, chunk); count > 0; count = readSync(fd, chunk)) reader.push(chunk.subarray(0, count));
  } finally {
    closeSync(fd);
  }
};

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
