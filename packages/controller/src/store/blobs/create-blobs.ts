import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { BlobError } from './blob-error.ts';
import type { Blobs, ByteRange, IsReferenced, Staged } from './blobs.ts';
import { createKeyedLock } from './keyed-lock.ts';
import { createParts } from './parts.ts';
import { openSealed, plainSizeOf } from './seal.ts';
import type { Shelf } from './shelf.ts';
import { createStaging, type StagingOptions } from './staging.ts';

export const hashPattern = /^[0-9a-f]{64}$/;

const checked = (sha256: string) => {
  if (!hashPattern.test(sha256)) throw new BlobError('NOT_FOUND', 'not a sha256 in lower-case hex');
  return sha256;
};

const readFile = (path: string, start: number, end = Number.POSITIVE_INFINITY) =>
  start >= end ? Readable.from([]) : createReadStream(path, { start, end: end - 1 });

/** Storage made of a place for uploads under way and a shelf for finished content; sealed when there is a key. */
export const createBlobs = (options: StagingOptions, shelf: Shelf): Blobs => {
  const { key } = options;
  const staging = createStaging(options);
  const parts = createParts(options, staging);
  const lock = createKeyedLock();

  const size = async (sha256: string) => {
    const kept = await shelf.size(checked(sha256));
    return kept === undefined || !key ? kept : plainSizeOf(kept);
  };

  const commit = async (staged: Staged, record?: () => Promise<void>) => {
    const isNew = await shelf.put(staged.path, staged.sha256);
    staging.forget(staged);
    try {
      await record?.();
    } catch (error) {
      if (isNew) await shelf.remove(staged.sha256);
      throw error;
    }
    if (staged.partPath) await rm(staged.partPath, { force: true });
  };

  const removeUnused = async (sha256: string, isReferenced?: IsReferenced) => {
    if (await isReferenced?.(sha256)) return false;
    await shelf.remove(sha256);
    return true;
  };

  const sweepShelf = async (isReferenced: IsReferenced) => {
    let removed = 0;
    const youngest = Date.now() - shelf.graceMs;
    for await (const { sha256, modifiedMs } of shelf.list()) {
      if (modifiedMs > youngest) continue;
      if (await lock(sha256, () => removeUnused(sha256, isReferenced))) removed += 1;
    }
    await shelf.tidy();
    return removed;
  };

  return {
    stage: staging.stage,
    readStaged: async ({ path, sha256 }, range: ByteRange = {}) =>
      key
        ? openSealed(async (start, end) => readFile(path, start, end), key, sha256, range)
        : readFile(path, range.start ?? 0, range.end),
    commit: (staged, record) => lock(staged.sha256, () => commit(staged, record)),
    discard: async (staged) => {
      await staging.discard(staged);
      if (staged.partPath) await rm(staged.partPath, { force: true });
    },
    read: async (sha256, range = {}) => {
      const readKept = (start: number, end?: number) => shelf.read(checked(sha256), start, end);
      return key ? openSealed(readKept, key, sha256, range) : readKept(range.start ?? 0, range.end);
    },
    size,
    exists: async (sha256) => (await size(sha256)) !== undefined,
    findPath: async (sha256) => (!key && (await size(sha256)) !== undefined ? shelf.findPath(sha256) : undefined),
    remove: (sha256, isReferenced) => lock(checked(sha256), () => removeUnused(sha256, isReferenced)),
    sweep: async (isReferenced, isOpenPart) => ({
      temps: await staging.sweep(),
      parts: isOpenPart ? await parts.sweep(isOpenPart) : 0,
      blobs: await sweepShelf(isReferenced),
    }),
    openPart: parts.open,
    append: parts.append,
    partSize: parts.size,
    finishPart: parts.finish,
    removePart: parts.remove,
    space: staging.space,
  };
};
