import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { BlobError, explainDiskError } from './blob-error.ts';
import type { IsOpenPart, Staged, StageOptions } from './blobs.ts';
import { takeFile, takeStream } from './intake.ts';
import { clearParts, createPartCipher } from './part-cipher.ts';
import { hashContent, type Staging, type StagingOptions } from './staging.ts';
import { createPlainWriter, writeFully } from './writers.ts';

export interface Parts {
  open(id: string): Promise<void>;
  append(id: string, offset: number, source: Readable, options?: StageOptions): Promise<number>;
  size(id: string): Promise<number | undefined>;
  finish(id: string, options?: StageOptions): Promise<Staged>;
  remove(id: string): Promise<void>;
  sweep(isOpenPart: IsOpenPart): Promise<number>;
}

const idPattern = /^[A-Za-z0-9_-]{1,64}$/;

const readFully = async (handle: FileHandle, target: Uint8Array, position: number) => {
  let filled = 0;
  for (;;) {
    const { bytesRead } = await handle.read(target, filled, target.length - filled, position + filled);
    filled += bytesRead;
    if (bytesRead === 0 || filled === target.length) return filled;
  }
};

/** Uploads that come in several requests: one growing file each, whose size is the truth about what was received. */
export const createParts = ({ folder, key, hashes }: StagingOptions, staging: Staging): Parts => {
  const home = join(folder, '.parts');
  const cipher = key ? createPartCipher(key) : clearParts;
  const busy = new Set<string>();

  const pathOf = (id: string) => {
    if (!idPattern.test(id)) throw new BlobError('PART_UNKNOWN', 'not the name of an upload');
    return join(home, id);
  };

  const sizeOf = async (id: string) => {
    const size = (await stat(pathOf(id)).catch(() => undefined))?.size;
    return size === undefined ? undefined : Math.max(0, size - cipher.headerBytes);
  };

  /** Opens the part for one request alone. */
  const withPart = async <T>(id: string, work: (handle: FileHandle, path: string) => Promise<T>): Promise<T> => {
    const path = pathOf(id);
    if (busy.has(id)) throw new BlobError('PART_BUSY', 'another request is sending this upload');
    busy.add(id);
    try {
      const handle = await open(path, 'r+').catch((cause) => {
        throw cause.code === 'ENOENT' ? new BlobError('PART_UNKNOWN', 'no such upload is open') : cause;
      });
      return await work(handle, path).finally(() => handle.close());
    } catch (error) {
      throw explainDiskError(error);
    } finally {
      busy.delete(id);
    }
  };

  const changeOf = async (handle: FileHandle) => {
    const header = new Uint8Array(cipher.headerBytes);
    await readFully(handle, header, 0);
    return cipher.changeOf(header);
  };

  const appendTo = async (handle: FileHandle, offset: number, source: Readable, options: StageOptions) => {
    const base = cipher.headerBytes;
    const kept = (await handle.stat()).size;
    // A crash while the part was opened can have cut its header.
    if (kept < base) await writeFully(handle, cipher.createHeader(), 0);
    const received = Math.max(0, kept - base);
    if (offset !== received) {
      throw new BlobError('OFFSET_MISMATCH', `the upload goes on at byte ${received}`, { received });
    }
    const writer = createPlainWriter(handle, { base, offset, change: await changeOf(handle) });
    try {
      return received + (await takeStream(source, writer.write, { ...options, keepsTail: true }));
    } catch (error) {
      if (error instanceof BlobError && error.code === 'TOO_LARGE') await handle.truncate(base + received);
      throw error;
    } finally {
      await handle.datasync();
    }
  };

  const finish = async (handle: FileHandle, path: string, { signal }: StageOptions): Promise<Staged> => {
    const change = await changeOf(handle);
    const readInto = async (target: Uint8Array, position: number) => {
      const length = await readFully(handle, target, cipher.headerBytes + position);
      if (key) target.set(change(target.subarray(0, length), position));
      return length;
    };
    const take = (consume: Parameters<typeof takeFile>[1]) => takeFile(readInto, consume, signal);
    if (key) return { ...(await staging.fill(take, signal)), partPath: path };
    const digests = await hashContent({ hashes, take, signal });
    return { ...digests, path: await staging.adopt(path), partPath: path };
  };

  return {
    open: async (id) => {
      const path = pathOf(id);
      await mkdir(home, { recursive: true, mode: 0o700 });
      await using handle = await open(path, 'w', 0o600);
      await writeFully(handle, cipher.createHeader(), 0);
      await handle.sync();
    },
    append: (id, offset, source, options = {}) => withPart(id, (handle) => appendTo(handle, offset, source, options)),
    size: sizeOf,
    finish: (id, options = {}) => withPart(id, (handle, path) => finish(handle, path, options)),
    remove: (id) => rm(pathOf(id), { force: true }),
    sweep: async (isOpenPart) => {
      let removed = 0;
      for (const id of await readdir(home).catch(() => [])) {
        if (busy.has(id) || (await isOpenPart(id))) continue;
        await rm(join(home, id), { force: true, recursive: true });
        removed += 1;
      }
      return removed;
    },
  };
};
