import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { BlobError, explainDiskError } from './blob-error.ts';
import type { IsOpenPart, Staged, StageOptions } from './blobs.ts';
import { takeFile, takeStream } from './intake.ts';
import { hashContent, type Staging, type StagingOptions, type Take } from './staging.ts';
import { type Change, createPlainWriter, writeFully } from './writers.ts';

const saltBytes = 16;
const blockBytes = 16;

/** Hides the bytes of an unfinished upload. */
interface PartCipher {
  /** Length of the header, which lies in the file before the content. */
  readonly headerBytes: number;
  createHeader(): Uint8Array;
  /** Its own inverse; any offset, any length. */
  changeOf(header: Uint8Array): Change;
}

const clearParts: PartCipher = {
  headerBytes: 0,
  createHeader: () => new Uint8Array(),
  changeOf: () => (bytes) => bytes,
};

/**
 * AES-256-CTR, because an upload goes on at any offset. It does not authenticate: the finished upload is hashed whole,
 * and sealed with tags, before anyone sees it.
 */
const createPartCipher = (key: Uint8Array): PartCipher => ({
  headerBytes: saltBytes,
  createHeader: () => randomBytes(saltBytes),
  changeOf: (salt) => {
    const secret = Buffer.from(hkdfSync('sha256', key, salt, 'rushhour upload part', 32));
    return (bytes, offset) => {
      const counter = Buffer.alloc(blockBytes);
      counter.writeBigUInt64BE(BigInt(Math.floor(offset / blockBytes)), 8);
      const cipher = createCipheriv('aes-256-ctr', secret, counter);
      cipher.update(Buffer.alloc(offset % blockBytes));
      return cipher.update(bytes);
    };
  },
});

const idPattern = /^[A-Za-z0-9_-]{1,64}$/;

const readFully = async (handle: FileHandle, target: Uint8Array, position: number) => {
  let filled = 0;
  for (;;) {
    const { bytesRead } = await handle.read(target, filled, target.length - filled, position + filled);
    filled += bytesRead;
    if (bytesRead === 0 || filled === target.length) return filled;
  }
};

/** Uploads in several requests: one growing file each, whose size is the number of bytes received. */
export class Parts {
  readonly #options: StagingOptions;
  readonly #staging: Staging;
  readonly #home: string;
  readonly #cipher: PartCipher;
  readonly #busy = new Set<string>();

  constructor(options: StagingOptions, staging: Staging) {
    this.#options = options;
    this.#staging = staging;
    this.#home = join(options.folder, '.parts');
    this.#cipher = options.key ? createPartCipher(options.key) : clearParts;
  }

  async open(id: string): Promise<void> {
    const path = this.#pathOf(id);
    await mkdir(this.#home, { recursive: true, mode: 0o700 });
    await using handle = await open(path, 'w', 0o600);
    await writeFully(handle, this.#cipher.createHeader(), 0);
    await handle.sync();
  }

  async size(id: string): Promise<number | undefined> {
    const kept = await stat(this.#pathOf(id)).catch(() => undefined);
    return kept && Math.max(0, kept.size - this.#cipher.headerBytes);
  }

  append(id: string, offset: number, source: Readable, options: StageOptions = {}): Promise<number> {
    return this.#withPart(id, (handle) => this.#append(handle, offset, source, options));
  }

  /** Sealed content is written again, plain content gets a hard link; the part itself stays in both cases. */
  finish(id: string, { signal }: StageOptions = {}): Promise<Staged> {
    return this.#withPart(id, async (handle, partPath) => {
      const take = await this.#takeFrom(handle, signal);
      if (this.#options.key) return { ...(await this.#staging.fill(take, signal)), partPath };
      const digests = await hashContent({ hashes: this.#options.hashes, take, signal });
      return { ...digests, path: await this.#staging.adopt(partPath), partPath };
    });
  }

  async remove(id: string): Promise<void> {
    await rm(this.#pathOf(id), { force: true });
  }

  async sweep(isOpenPart: IsOpenPart): Promise<number> {
    let removed = 0;
    for (const id of await readdir(this.#home).catch(() => [])) {
      if (this.#busy.has(id) || (await isOpenPart(id))) continue;
      await rm(join(this.#home, id), { force: true, recursive: true });
      removed += 1;
    }
    return removed;
  }

  async #append(handle: FileHandle, offset: number, source: Readable, options: StageOptions): Promise<number> {
    const base = this.#cipher.headerBytes;
    const kept = (await handle.stat()).size;
    // A crash while the part was opened can have cut its header.
    if (kept < base) await writeFully(handle, this.#cipher.createHeader(), 0);
    const received = Math.max(0, kept - base);
    if (offset !== received) {
      throw new BlobError('OFFSET_MISMATCH', `the upload continues at byte ${received}`, { received });
    }
    const writer = createPlainWriter(handle, { base, offset, change: await this.#changeOf(handle) });
    try {
      return received + (await takeStream(source, writer.write, { ...options, keepsTail: true }));
    } catch (error) {
      if (error instanceof BlobError && error.code === 'TOO_LARGE') await handle.truncate(base + received);
      throw error;
    } finally {
      await handle.datasync();
    }
  }

  async #takeFrom(handle: FileHandle, signal: AbortSignal | undefined): Promise<Take> {
    const change = await this.#changeOf(handle);
    const readInto = async (target: Uint8Array, position: number) => {
      const length = await readFully(handle, target, this.#cipher.headerBytes + position);
      const bytes = target.subarray(0, length);
      const plain = change(bytes, position);
      if (plain !== bytes) target.set(plain);
      return length;
    };
    return (consume) => takeFile(readInto, consume, signal);
  }

  async #changeOf(handle: FileHandle) {
    const header = new Uint8Array(this.#cipher.headerBytes);
    await readFully(handle, header, 0);
    return this.#cipher.changeOf(header);
  }

  #pathOf(id: string): string {
    if (!idPattern.test(id)) throw new BlobError('PART_UNKNOWN', 'not the name of an upload');
    return join(this.#home, id);
  }

  /** Opens the part for one request alone. */
  async #withPart<T>(id: string, work: (handle: FileHandle, path: string) => Promise<T>): Promise<T> {
    const path = this.#pathOf(id);
    if (this.#busy.has(id)) throw new BlobError('PART_BUSY', 'another request is sending this upload');
    this.#busy.add(id);
    try {
      const handle = await open(path, 'r+').catch((cause) => {
        throw cause.code === 'ENOENT' ? new BlobError('PART_UNKNOWN', 'no such upload is open') : cause;
      });
      return await work(handle, path).finally(() => handle.close());
    } catch (error) {
      throw explainDiskError(error);
    } finally {
      this.#busy.delete(id);
    }
  }
}
