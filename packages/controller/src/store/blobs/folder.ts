import { mkdir, open, opendir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { BlobError } from './blob-error.ts';
import type { Blobs } from './blobs.ts';
import type { Shelf, ShelvedBlob } from './shelved-blobs.ts';
import { hashPattern, ShelvedBlobs } from './shelved-blobs.ts';
import type { StagingOptions } from './staging.ts';

const sync = async (path: string) => {
  await using handle = await open(path, 'r');
  await handle.sync();
};

const sizeOfFile = async (path: string) => (await stat(path).catch(() => undefined))?.size;

class FolderShelf implements Shelf {
  readonly graceMs = 0;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  findPath(sha256: string) {
    return join(this.#folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  }

  async put(path: string, sha256: string) {
    const target = this.findPath(sha256);
    const [have, come] = await Promise.all([sizeOfFile(target), sizeOfFile(path)]);
    if (have !== undefined && have === come) {
      await rm(path);
      return false;
    }
    await sync(path);
    await this.#makeFolder(dirname(target));
    await rename(path, target);
    await sync(dirname(target));
    return have === undefined;
  }

  async read(sha256: string, start: number, end = Number.POSITIVE_INFINITY) {
    const handle = await open(this.findPath(sha256), 'r').catch((cause) => {
      throw cause.code === 'ENOENT' ? new BlobError('NOT_FOUND', 'no such content', { sha256 }) : cause;
    });
    if (start < end) return handle.createReadStream({ start, end: end - 1, highWaterMark: 256 * 1024 });
    await handle.close();
    return Readable.from([]);
  }

  size(sha256: string) {
    return sizeOfFile(this.findPath(sha256));
  }

  remove(sha256: string) {
    return rm(this.findPath(sha256), { force: true });
  }

  async *list(): AsyncGenerator<ShelvedBlob> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for await (const entry of await opendir(this.#folder, { recursive: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!hashPattern.test(entry.name) || path !== this.findPath(entry.name)) continue;
      const found = await stat(path).catch(() => undefined);
      if (found?.isFile()) yield { sha256: entry.name, modifiedMs: found.mtimeMs };
    }
  }

  async trash(sha256: string) {
    const target = this.#trashPath(sha256);
    await this.#makeFolder(dirname(target));
    const now = new Date();
    await utimes(this.findPath(sha256), now, now);
    await rename(this.findPath(sha256), target);
  }

  async restore(sha256: string) {
    const target = this.findPath(sha256);
    await this.#makeFolder(dirname(target));
    await rename(this.#trashPath(sha256), target);
    await sync(dirname(target));
  }

  removeTrashed(sha256: string) {
    return rm(this.#trashPath(sha256), { force: true });
  }

  async *listTrash(): AsyncGenerator<ShelvedBlob> {
    for (const sha256 of await readdir(join(this.#folder, '.trash')).catch(() => [])) {
      const found = hashPattern.test(sha256) ? await stat(this.#trashPath(sha256)).catch(() => undefined) : undefined;
      if (found) yield { sha256, modifiedMs: found.mtimeMs };
    }
  }

  async tidy() {}

  #trashPath(sha256: string) {
    return join(this.#folder, '.trash', sha256);
  }

  /** A folder that was just made is durable only when its parent is. */
  async #makeFolder(path: string) {
    const made = await mkdir(path, { recursive: true, mode: 0o700 });
    if (made === undefined) return;
    await sync(dirname(path));
    await sync(this.#folder);
  }
}

/** The contents alone, for backups. */
export const createFolderShelf = (folder: string): Shelf => new FolderShelf(folder);

/** Blobs in a folder of this machine: `<folder>/ab/cd/<sha256>`. The folder belongs to one controller. */
export const createFolderBlobs = (options: StagingOptions): Blobs =>
  new ShelvedBlobs(options, new FolderShelf(options.folder));
