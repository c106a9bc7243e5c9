import { mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { BlobError } from './blob-error.ts';
import { createBlobs, hashPattern } from './create-blobs.ts';
import type { Shelf } from './shelf.ts';
import type { StagingOptions } from './staging.ts';

const sync = async (path: string) => {
  await using handle = await open(path, 'r');
  await handle.sync();
};

const sizeOfFile = async (path: string) => (await stat(path).catch(() => undefined))?.size;

const createShelf = (folder: string): Shelf => {
  const pathOf = (sha256: string) => join(folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256);

  /** A folder that was just made is durable only when its parent is. */
  const makeFolder = async (path: string) => {
    const made = await mkdir(path, { recursive: true, mode: 0o700 });
    if (made === undefined) return;
    await sync(dirname(path));
    await sync(folder);
  };

  const put: Shelf['put'] = async (path, sha256) => {
    const target = pathOf(sha256);
    const [have, come] = await Promise.all([sizeOfFile(target), sizeOfFile(path)]);
    if (have !== undefined && have === come) {
      await rm(path);
      return false;
    }
    await sync(path);
    await makeFolder(dirname(target));
    await rename(path, target);
    await sync(dirname(target));
    return have === undefined;
  };

  const read: Shelf['read'] = async (sha256, start, end = Number.POSITIVE_INFINITY) => {
    const handle = await open(pathOf(sha256), 'r').catch((cause) => {
      throw cause.code === 'ENOENT' ? new BlobError('NOT_FOUND', 'no such content', { sha256 }) : cause;
    });
    if (start < end) return handle.createReadStream({ start, end: end - 1, highWaterMark: 256 * 1024 });
    await handle.close();
    return Readable.from([]);
  };

  return {
    graceMs: 0,
    put,
    read,
    size: (sha256) => sizeOfFile(pathOf(sha256)),
    findPath: pathOf,
    remove: (sha256) => rm(pathOf(sha256), { force: true }),
    list: () => listFolder(folder, pathOf),
    tidy: async () => {},
  };
};

async function* listFolder(folder: string, pathOf: (sha256: string) => string) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for await (const entry of await opendir(folder, { recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!hashPattern.test(entry.name) || path !== pathOf(entry.name)) continue;
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile()) yield { sha256: entry.name, modifiedMs: found.mtimeMs };
  }
}

/** Blobs in a folder of this machine: `<folder>/ab/cd/<sha256>`. The folder belongs to one controller. */
export const createFolderBlobs = (options: StagingOptions) => createBlobs(options, createShelf(options.folder));
