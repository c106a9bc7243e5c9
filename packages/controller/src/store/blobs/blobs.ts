import type { Readable } from 'node:stream';

/** Lower-case hex digests of the plain content, sealed or not. */
export interface Digests {
  readonly md5: string;
  readonly sha1: string;
  readonly sha256: string;
  readonly sha3_384: string;
}

/** Content that has arrived whole and is hashed, but is not yet visible to anyone. Ends with `commit` or `discard`. */
export interface Staged extends Digests {
  readonly size: number;
  /** The temp file. Of sealed content it holds the sealed bytes. */
  readonly path: string;
  /** The unfinished upload it was made from. */
  readonly partPath?: string;
}

/** Half open: `end` is the first byte not read. */
export interface ByteRange {
  readonly start?: number;
  readonly end?: number;
}

export interface StageOptions {
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

export type IsReferenced = (sha256: string) => Promise<boolean>;
export type IsOpenPart = (id: string) => Promise<boolean>;

export interface SweepReport {
  /** Unreferenced blobs that were moved to the trash. */
  readonly trashed: number;
  /** Blobs in the trash that are referenced again and were moved back. */
  readonly restored: number;
  readonly temps: number;
  readonly parts: number;
}

/** A store that records which installation it belongs to. */
export interface MarkedStore {
  /** Names the store in messages. */
  readonly name: string;
  readMark(): Promise<string | undefined>;
  writeMark(installation: string): Promise<void>;
  isEmpty(): Promise<boolean>;
}

export interface Space {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Content-addressed storage. What a reader can see is always whole and durable. */
export interface Blobs {
  /** Takes the stream to its end in constant memory; a failure leaves nothing behind. The stream is not destroyed. */
  stage(source: Readable, options?: StageOptions): Promise<Staged>;
  readStaged(staged: Staged, range?: ByteRange): Promise<Readable>;
  /**
   * Makes the content durable under its sha256, then runs `record`, which writes the row that refers to it.
   * `remove` and `sweep` of the same content wait until the row is there. If `record` throws, new content is taken back;
   * if the storage fails before that, the content stays staged.
   */
  commit(staged: Staged, record?: () => Promise<void>): Promise<void>;
  discard(staged: Staged): Promise<void>;

  /** Rejects with NOT_FOUND before the first byte, so that a status can still be chosen. */
  read(sha256: string, range?: ByteRange): Promise<Readable>;
  /** Bytes of plain content; undefined when there is no such blob. */
  size(sha256: string): Promise<number | undefined>;
  exists(sha256: string): Promise<boolean>;
  /** A file of this machine with the plain content, for readers that need one; undefined where there is none. */
  findPath(sha256: string): Promise<string | undefined>;
  /** False, and nothing removed, when `isReferenced` says the content is still in use. */
  remove(sha256: string, isReferenced?: IsReferenced): Promise<boolean>;
  /**
   * Tidies up after a crash: temp files no one is writing and parts no upload owns are removed. Unreferenced blobs go to
   * the trash, because the database may be the wrong one; those in the trash that are referenced come back.
   */
  sweep(isReferenced: IsReferenced, isOpenPart?: IsOpenPart): Promise<SweepReport>;

  /** Removes blobs that have been in the trash for longer than this; answers their number. */
  emptyTrash(maxAgeMs: number): Promise<number>;
  /** Where the contents are not in the data folder: the store that holds them. */
  readonly marked: MarkedStore | undefined;

  openPart(id: string): Promise<void>;
  /**
   * Answers the new size. `offset` must be the present size (OFFSET_MISMATCH reports it). When the stream breaks off,
   * the bytes that came stay; when it is longer than `maxBytes`, none do.
   */
  append(id: string, offset: number, source: Readable, options?: StageOptions): Promise<number>;
  partSize(id: string): Promise<number | undefined>;
  /** Hashes the part. It stays until `commit` or `discard`, so that a crash in between only costs the hashing. */
  finishPart(id: string, options?: StageOptions): Promise<Staged>;
  removePart(id: string): Promise<void>;

  /** Of the disk that takes uploads. */
  space(): Promise<Space>;
}
