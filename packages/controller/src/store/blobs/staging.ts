import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, mkdir, open, readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { explainDiskError } from './blob-error.ts';
import type { Space, Staged, StageOptions } from './blobs.ts';
import type { HashPool } from './hash-pool.ts';
import { type Consume, takeStream } from './intake.ts';
import { createPlainWriter, createSealedWriter, type Writer } from './writers.ts';

export interface StagingOptions {
  /** Temp files and parts lie here; finished blobs too where they are kept in a folder, so that a rename is enough. */
  readonly folder: string;
  readonly hashes: HashPool;
  /** 32 bytes; content is sealed with it on its way to the disk. */
  readonly key?: Uint8Array | undefined;
}

export interface Staging {
  stage(source: Readable, options?: StageOptions): Promise<Staged>;
  fill(take: Take, signal?: AbortSignal): Promise<Staged>;
  /** A temp file with the content of another file, which stays. */
  adopt(file: string): Promise<string>;
  discard(staged: Staged): Promise<void>;
  /** The file was taken away: it is no longer ours to protect from `sweep`. */
  forget(staged: Staged): void;
  sweep(): Promise<number>;
  space(): Promise<Space>;
}

/** Passes content on to the consumer it is given, and answers its length. */
export type Take = (consume: Consume) => Promise<number>;

interface Hashing {
  readonly hashes: HashPool;
  readonly take: Take;
  readonly writer?: Writer;
  readonly signal?: AbortSignal | undefined;
}

/** One pass over content for all digests, and for the disk when there is a writer. */
export const hashContent = async ({ hashes, take, writer, signal }: Hashing) => {
  const job = await hashes.open(signal);
  try {
    const size = await take((bytes) => Promise.all([writer?.write(bytes), job.update(bytes)]));
    const digests = await job.digest();
    await writer?.finish(size, digests.sha256);
    return { size, ...digests };
  } finally {
    job.close();
  }
};

export const createStaging = ({ folder, hashes, key }: StagingOptions): Staging => {
  const temps = join(folder, '.staging');
  const active = new Set<string>();

  const createPath = () => {
    const path = join(temps, randomUUID());
    active.add(path);
    return path;
  };

  const fill: Staging['fill'] = async (take, signal) => {
    const path = createPath();
    try {
      await mkdir(temps, { recursive: true, mode: 0o700 });
      await using handle = await open(path, 'wx', 0o600);
      const writer = key ? createSealedWriter(handle, key) : createPlainWriter(handle);
      return { path, ...(await hashContent({ hashes, take, writer, signal })) };
    } catch (error) {
      await rm(path, { force: true });
      active.delete(path);
      throw explainDiskError(error);
    }
  };

  return {
    fill,
    stage: (source, options = {}) => {
      // Until the content is iterated nobody else would hear a failure of the source, and it would end the process.
      source.on('error', () => {});
      return fill((consume) => takeStream(source, consume, options), options.signal);
    },
    adopt: async (file) => {
      const path = createPath();
      await mkdir(temps, { recursive: true, mode: 0o700 });
      // A second name costs nothing; where the file system has none, a copy does the same.
      await link(file, path).catch(() => copyFile(file, path, constants.COPYFILE_FICLONE));
      return path;
    },
    discard: async ({ path }) => {
      await rm(path, { force: true });
      active.delete(path);
    },
    forget: ({ path }) => void active.delete(path),
    sweep: async () => {
      const names = await readdir(temps).catch(() => []);
      const stale = names.map((name) => join(temps, name)).filter((path) => !active.has(path));
      await Promise.all(stale.map((path) => rm(path, { force: true, recursive: true })));
      return stale.length;
    },
    space: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { bavail, blocks, bsize } = await statfs(folder);
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    },
  };
};
