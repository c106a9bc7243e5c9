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
  /** Folder of temp files and parts; of finished blobs too when they are stored in a folder, so that a rename suffices. */
  readonly folder: string;
  readonly hashes: HashPool;
  /** 32 bytes; content is sealed with it on its way to the disk. */
  readonly key?: Uint8Array | undefined;
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

/** Temp files: content that has arrived but is not committed yet. */
export class Staging {
  readonly #options: StagingOptions;
  readonly #temps: string;
  readonly #active = new Set<string>();

  constructor(options: StagingOptions) {
    this.#options = options;
    this.#temps = join(options.folder, '.staging');
  }

  stage(source: Readable, options: StageOptions = {}): Promise<Staged> {
    // Before the content is iterated no other listener exists, and an error of the source would end the process.
    source.on('error', () => {});
    return this.fill((consume) => takeStream(source, consume, options), options.signal);
  }

  async fill(take: Take, signal?: AbortSignal): Promise<Staged> {
    const { hashes, key } = this.#options;
    const path = await this.#createPath();
    try {
      await using handle = await open(path, 'wx', 0o600);
      const writer = key ? createSealedWriter(handle, key) : createPlainWriter(handle);
      return { path, ...(await hashContent({ hashes, take, writer, signal })) };
    } catch (error) {
      await this.discard({ path });
      throw explainDiskError(error);
    }
  }

  /** A temp file with the content of another file, which stays. */
  async adopt(file: string): Promise<string> {
    const path = await this.#createPath();
    // A hard link costs nothing; file systems without hard links get a copy.
    await link(file, path).catch(() => copyFile(file, path, constants.COPYFILE_FICLONE));
    return path;
  }

  async discard({ path }: Pick<Staged, 'path'>): Promise<void> {
    await rm(path, { force: true });
    this.#active.delete(path);
  }

  /** The file was moved: `sweep` need not spare it any more. */
  forget({ path }: Staged): void {
    this.#active.delete(path);
  }

  async sweep(): Promise<number> {
    const names = await readdir(this.#temps).catch(() => []);
    const stale = names.map((name) => join(this.#temps, name)).filter((path) => !this.#active.has(path));
    await Promise.all(stale.map((path) => rm(path, { force: true, recursive: true })));
    return stale.length;
  }

  async space(): Promise<Space> {
    await mkdir(this.#options.folder, { recursive: true, mode: 0o700 });
    const { bavail, blocks, bsize } = await statfs(this.#options.folder);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  }

  async #createPath(): Promise<string> {
    const path = join(this.#temps, randomUUID());
    this.#active.add(path);
    await mkdir(this.#temps, { recursive: true, mode: 0o700 });
    return path;
  }
}
