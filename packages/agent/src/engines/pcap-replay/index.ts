import { closeSync, openSync, readSync } from 'node:fs';
import { CaptureReader, type DestinationSet, destinationsInto } from '@rushhour/pcap';
import { PcapReplayConfig } from '@rushhour/protocol';
import type { Engine } from '../../engine.ts';
import { checkFrames } from '../../net/frame-path.ts';
import { prepareReplayClient } from './client.ts';
import { prepareReplayServer } from './server.ts';

const chunkBytes = 1_048_576;

/** All unicast destination addresses of a capture; empty for an unreadable file. */
const recordedDestinations = (path: string): string[] => {
  const found: DestinationSet = new Set();
  try {
    readInto(path, new CaptureReader(destinationsInto(found)));
  } catch {
    // Errors of the file are reported at preparation.
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

/** Replays the packets of a capture from the client agent and the server agents. */
export const pcapReplay: Engine<PcapReplayConfig> = {
  id: 'pcap-replay',
  config: PcapReplayConfig,
  targetsOf(config) {
    // The client declares the targets of both directions; servers have none.
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
