import type { Readable } from 'node:stream';

export interface ShelvedBlob {
  readonly sha256: string;
  readonly modifiedMs: number;
}

/** Where finished content is kept, as bytes under a hash; whether they are sealed is not its business. */
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
  /** Removes what an interrupted `put` left. */
  tidy(): Promise<void>;
}
