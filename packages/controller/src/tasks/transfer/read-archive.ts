import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { ArchiveError } from '../../assets/archives/archive-error.ts';
import type { ArchiveSource } from '../../assets/archives/archive-source.ts';
import { type CheckedArchive, checkArchive } from './check-archive.ts';
import { walkArchive } from './walk-archive.ts';

/** Reads an archive to its last byte and refuses one that is not what it says. */
export const readArchive = async (source: ArchiveSource, maxBytes: number): Promise<CheckedArchive> => {
  const sizes = new Map<string, number>();
  const texts = await walkArchive(source, maxBytes, async (path, open) => {
    sizes.set(path, await verified(path, open()));
  });
  return checkArchive(texts, sizes);
};

/** Contents are named by their hash; answers the length. */
const verified = async (path: string, stream: Readable): Promise<number> => {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
  }
  if (path !== `payload/${hash.digest('hex')}`) {
    throw new ArchiveError('BAD_CHECKSUM', path, 'the content is not the one it is named after');
  }
  return size;
};
