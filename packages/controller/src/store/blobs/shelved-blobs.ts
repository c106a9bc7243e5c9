import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createKeyedQueue } from '../../concurrency/keyed-queue.ts';
import { BlobError } from './blob-error.ts';
import type {
  Blobs,
  ByteRange,
  IsOpenPart,
  IsReferenced,
  MarkedStore,
  Staged,
  StageOptions,
  SweepReport,
} from './blobs.ts';
import { Parts } from './parts.ts';
import { openSealed, plainSizeOf } from './seal.ts';
import { Staging, type StagingOptions } from './staging.ts';

export interface ShelvedBlob {
  readonly sha256: string;
  readonly modifiedMs: number;
}

/** Storage of finished content, as bytes under a hash; sealing happens above it. */
export interface Shelf {
  /** Unreferenced content younger than this is left alone by a sweep: another controller may be about to refer to it. */
  readonly graceMs: number;
  /** Takes over the file. Resolves when the content is durable; true when it was not there before. */
  put(path: string, sha256: string): Promise<boolean>;
  /** Rejects with NOT_FOUND before the first byte. `end` is the first byte not read. */
  read(sha256: string, start: number, end?: number): Promise<Readable>;
  size(sha256: string): Promise<number | undefined>;
  /** Undefined where content is not kept in files of this machine. */
  findPath(sha256: string): string | undefined;
  remove(sha256: string): Promise<void>;
  list(): AsyncIterable<ShelvedBlob>;
  /** Moves content to the trash; the time of the move becomes its `modifiedMs` there. */
  trash(sha256: string): Promise<void>;
  /** Moves content back from the trash. */
  restore(sha256: string): Promise<void>;
  removeTrashed(sha256: string): Promise<void>;
  listTrash(): AsyncIterable<ShelvedBlob>;
  readonly marked?: MarkedStore;
  /** Removes what an interrupted `put` left. */
  tidy(): Promise<void>;
}

export const hashPattern = /^[0-9a-f]{64}$/;

const checked = (sha256: string) => {
  if (!hashPattern.test(sha256)) throw new BlobError('NOT_FOUND', 'not a sha256 in lower-case hex');
  return sha256;
};

const readFile = (path: string, start: number, end = Number.POSITIVE_INFINITY) =>
  start >= end ? Readable.from([]) : createReadStream(path, { start, end: end - 1 });

/** Blobs made of staging for uploads in progress and a backend for finished content; sealed when there is a key. */
export class ShelvedBlobs implements Blobs {
  readonly #shelf: Shelf;
  readonly #key: Uint8Array | undefined;
  readonly #staging: Staging;
  readonly #parts: Parts;
  readonly #lock = createKeyedQueue<string>().run;

  constructor(options: StagingOptions, shelf: Shelf) {
    this.#shelf = shelf;
    this.#key = options.key;
    this.#staging = new Staging(options);
    this.#parts = new Parts(options, this.#staging);
  }

  stage(source: Readable, options?: StageOptions) {
    return this.#staging.stage(source, options);
  }

  async readStaged({ path, sha256 }: Staged, range: ByteRange = {}) {
    if (!this.#key) return readFile(path, range.start ?? 0, range.end);
    return openSealed(async (start, end) => readFile(path, start, end), this.#key, sha256, range);
  }

  commit(staged: Staged, record?: () => Promise<void>) {
    return this.#lock(staged.sha256, async () => {
      const isNew = await this.#shelf.put(staged.path, staged.sha256);
      this.#staging.forget(staged);
      try {
        await record?.();
      } catch (error) {
        if (isNew) await this.#shelf.remove(staged.sha256);
        throw error;
      }
      if (staged.partPath) await rm(staged.partPath, { force: true });
    });
  }

  async discard(staged: Staged) {
    await this.#staging.discard(staged);
    if (staged.partPath) await rm(staged.partPath, { force: true });
  }

  async read(sha256: string, range: ByteRange = {}) {
    const readKept = (start: number, end?: number) => this.#shelf.read(checked(sha256), start, end);
    return this.#key ? openSealed(readKept, this.#key, sha256, range) : readKept(range.start ?? 0, range.end);
  }

  async size(sha256: string) {
    const kept = await this.#shelf.size(checked(sha256));
    return kept === undefined || !this.#key ? kept : plainSizeOf(kept);
  }

  async exists(sha256: string) {
    return (await this.size(sha256)) !== undefined;
  }

  async findPath(sha256: string) {
    return !this.#key && (await this.exists(sha256)) ? this.#shelf.findPath(sha256) : undefined;
  }

  remove(sha256: string, isReferenced?: IsReferenced) {
    return this.#lock(checked(sha256), async () => {
      if (await isReferenced?.(sha256)) return false;
      await this.#shelf.remove(sha256);
      return true;
    });
  }

  async sweep(isReferenced: IsReferenced, isOpenPart?: IsOpenPart): Promise<SweepReport> {
    const temps = await this.#staging.sweep();
    const parts = isOpenPart ? await this.#parts.sweep(isOpenPart) : 0;
    const restored = await this.#restoreReferenced(isReferenced);
    const youngest = Date.now() - this.#shelf.graceMs;
    let trashed = 0;
    for await (const { sha256, modifiedMs } of this.#shelf.list()) {
      if (modifiedMs <= youngest && (await this.#trashUnreferenced(sha256, isReferenced))) trashed += 1;
    }
    await this.#shelf.tidy();
    return { trashed, restored, temps, parts };
  }

  async emptyTrash(maxAgeMs: number): Promise<number> {
    const oldest = Date.now() - maxAgeMs;
    let removed = 0;
    for await (const { sha256, modifiedMs } of this.#shelf.listTrash()) {
      if (modifiedMs > oldest) continue;
      await this.#shelf.removeTrashed(sha256);
      removed += 1;
    }
    return removed;
  }

  get marked() {
    return this.#shelf.marked;
  }

  #trashUnreferenced(sha256: string, isReferenced: IsReferenced) {
    return this.#lock(sha256, async () => {
      if (await isReferenced(sha256)) return false;
      await this.#shelf.trash(sha256);
      return true;
    });
  }

  async #restoreReferenced(isReferenced: IsReferenced) {
    let restored = 0;
    for await (const { sha256 } of this.#shelf.listTrash()) {
      const isBack = await this.#lock(sha256, async () => {
        if (!(await isReferenced(sha256))) return false;
        await this.#shelf.restore(sha256);
        return true;
      });
      if (isBack) restored += 1;
    }
    return restored;
  }

  openPart(id: string) {
    return this.#parts.open(id);
  }

  append(id: string, offset: number, source: Readable, options?: StageOptions) {
    return this.#parts.append(id, offset, source, options);
  }

  partSize(id: string) {
    return this.#parts.size(id);
  }

  finishPart(id: string, options?: StageOptions) {
    return this.#parts.finish(id, options);
  }

  removePart(id: string) {
    return this.#parts.remove(id);
  }

  space() {
    return this.#staging.space();
  }
}
