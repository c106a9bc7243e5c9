import { closeSync, openSync, readSync } from 'node:fs';
import { CaptureReader, type DestinationSet, destinationsInto } from '@rushhour/pcap';

const chunkBytes = 1_048_576;

/** Every address that packets of a capture go to, groups left out. A file that cannot be read has none. */
export const recordedDestinations = (path: string): string[] => {
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
