import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { NeededFile } from '@rushhour/protocol';

export const hashOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
};

/** A file being received. Received parts stay on disk and are not requested again. */
export class Transfer {
  readonly file: NeededFile;
  readonly done: Promise<void>;
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #settled = Promise.withResolvers<void>();
  #position: number;
  #writing: Promise<void> = Promise.resolve();
  #isOver = false;
  /** Bytes received and not yet written. */
  pendingBytes = 0;
  heardAt = performance.now();
  /** Consecutive requests without progress. */
  stalls = 0;

  private constructor(file: NeededFile, path: string, opened: { handle: FileHandle; position: number }) {
    this.file = file;
    this.#path = path;
    this.#handle = opened.handle;
    this.#position = opened.position;
    this.done = this.#settled.promise;
    this.done.catch(() => {});
    if (this.isComplete) void this.#finish();
  }

  static async begin(file: NeededFile, path: string): Promise<Transfer> {
    const handle = await open(`${path}.part`, 'a', 0o600);
    let { size: position } = await handle.stat();
    if (position > file.size) {
      await handle.truncate(0);
      position = 0;
    }
    return new Transfer(file, path, { handle, position });
  }

  get isComplete(): boolean {
    return this.#position === this.file.size;
  }

  /** The offset to continue from, after all received data is written. */
  async offset(): Promise<number> {
    await this.#writing;
    return this.#position;
  }

  /** False if there is a gap before these bytes. Duplicates are ignored. */
  take(offset: number, bytes: Buffer): boolean {
    this.heardAt = performance.now();
    this.stalls = 0;
    if (this.#isOver || offset < this.#position) return true;
    if (offset > this.#position) return false;
    if (this.#position + bytes.length > this.file.size) {
      void this.fail(new Error(`file ${this.file.sha256} is longer than its ${this.file.size} bytes`), true);
      return true;
    }
    this.#position += bytes.length;
    this.pendingBytes += bytes.length;
    this.#writing = this.#writing.then(() => this.#write(bytes));
    if (this.isComplete) void this.#finish();
    return true;
  }

  async fail(error: Error, isDiscarded = false): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#handle.close().catch(() => {});
    if (isDiscarded) await unlink(`${this.#path}.part`).catch(() => {});
    this.#settled.reject(error);
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#isOver) return;
    try {
      await this.#handle.appendFile(bytes);
    } catch (error) {
      // A partial file would only take up space on a full disk.
      await this.fail(new Error(`file ${this.file.sha256} cannot be stored: ${(error as Error).message}`), true);
    }
    this.pendingBytes -= bytes.length;
  }

  async #finish(): Promise<void> {
    await this.#writing;
    if (this.#isOver) return;
    try {
      await this.#handle.sync();
      const found = await hashOf(`${this.#path}.part`);
      if (found !== this.file.sha256) throw new Error(`file ${this.file.sha256} does not match its hash`);
      await this.#handle.close();
      await rename(`${this.#path}.part`, this.#path);
      this.#isOver = true;
      this.#settled.resolve();
    } catch (error) {
      await this.fail(error as Error, true);
    }
  }
}
