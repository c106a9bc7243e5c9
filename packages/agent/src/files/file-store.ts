import { mkdir, readdir, stat, statfs, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { NeededFile, ToController } from '@rushhour/protocol';
import type { Log } from '../log/log.ts';
import { MissingFile } from '../runs/supervisor/missing-file.ts';
import { hashOf, Transfer } from './transfer.ts';

export interface FileStoreDeps {
  readonly folder: string;
  readonly log: Log;
  readonly send: (message: ToController) => boolean;
  /** Pauses reading from the controller while the disk is behind. */
  readonly hold: (isPaused: boolean) => void;
  /** Files that must not be deleted. */
  readonly inUse: () => readonly NeededFile[];
}

const maxPendingBytes = 16 * 1024 * 1024;
const reserveBytes = 64 * 1024 * 1024;
const stalledMs = 20_000;
const maxStalls = 3;
const maxConcurrent = 4;
const checkMs = 1000;

const isFileName = (name: string) => /^[0-9a-f]{64}$/.test(name);
const sizeOf = async (path: string): Promise<number | undefined> => (await stat(path).catch(() => undefined))?.size;

/** Files of the controller by SHA-256; each is fetched once. */
export class FileStore {
  readonly #deps: FileStoreDeps;
  readonly #transfers = new Map<string, Transfer>();
  readonly #fetching = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  readonly #timer: NodeJS.Timeout;
  #running = 0;
  #isPaused = false;

  constructor(deps: FileStoreDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.#check(), checkMs).unref();
  }

  pathOf(sha256: string): string {
    return join(this.#deps.folder, sha256);
  }

  /** Paths of all complete files, by hash. */
  async present(): Promise<ReadonlyMap<string, string>> {
    const names = await readdir(this.#deps.folder).catch(() => []);
    return new Map(names.filter(isFileName).map((name) => [name, this.pathOf(name)]));
  }

  /** Resolves with the path when the file is complete. With `verify`, the hash of an existing file is checked again. */
  async fetch(file: NeededFile, verify = false): Promise<string> {
    const path = this.pathOf(file.sha256);
    const isHere = (await sizeOf(path)) === file.size;
    if (isHere && (!verify || (await hashOf(path)) === file.sha256)) {
      await utimes(path, new Date(), new Date()).catch(() => {});
      return path;
    }
    const pending = this.#fetching.get(file.sha256) ?? this.#start(file, path);
    await pending;
    return path;
  }

  async fetchAll(files: readonly NeededFile[]): Promise<ReadonlyMap<string, string>> {
    const pathOf = (file: NeededFile) =>
      this.fetch(file).catch((error: Error) => {
        throw new MissingFile(file.sha256, error);
      });
    return new Map(await Promise.all(files.map(async (file) => [file.sha256, await pathOf(file)] as const)));
  }

  take({ sha256, offset, bytes }: { sha256: string; offset: number; bytes: Buffer }): void {
    const transfer = this.#transfers.get(sha256);
    if (transfer === undefined) return;
    if (!transfer.take(offset, bytes)) void this.#request(transfer);
    this.#updateReading();
  }

  refuse(sha256: string, reason: string): void {
    void this.#transfers.get(sha256)?.fail(new Error(`file ${sha256} is not available: ${reason}`));
  }

  /** Requests missing parts again in the new session. */
  sessionOpened(): void {
    this.#isPaused = false;
    for (const transfer of this.#transfers.values()) void this.#request(transfer);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #start(file: NeededFile, path: string): Promise<void> {
    const fetching = this.#withSlot(() => this.#transfer(file, path)).finally(() => this.#fetching.delete(file.sha256));
    this.#fetching.set(file.sha256, fetching);
    return fetching;
  }

  async #withSlot(work: () => Promise<void>): Promise<void> {
    if (this.#running >= maxConcurrent) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      await work();
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #transfer(file: NeededFile, path: string): Promise<void> {
    await mkdir(this.#deps.folder, { recursive: true, mode: 0o700 });
    await this.#makeRoom(file.size);
    const transfer = await Transfer.begin(file, path);
    this.#transfers.set(file.sha256, transfer);
    try {
      if (!transfer.isComplete) await this.#request(transfer);
      await transfer.done;
    } finally {
      this.#transfers.delete(file.sha256);
      this.#updateReading();
    }
  }

  async #request(transfer: Transfer): Promise<void> {
    const offset = await transfer.offset();
    transfer.heardAt = performance.now();
    if (!transfer.isComplete) this.#deps.send({ type: 'needFile', sha256: transfer.file.sha256, offset });
  }

  #check(): void {
    for (const transfer of this.#transfers.values()) {
      if (transfer.isComplete || performance.now() - transfer.heardAt < stalledMs) continue;
      transfer.stalls += 1;
      if (transfer.stalls <= maxStalls) void this.#request(transfer);
      else void transfer.fail(new Error(`file ${transfer.file.sha256} does not arrive`));
    }
    this.#updateReading();
  }

  #updateReading(): void {
    const pending = this.#transfers.values().reduce((sum, { pendingBytes }) => sum + pendingBytes, 0);
    const isPaused = pending > maxPendingBytes;
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    this.#deps.hold(isPaused);
  }

  /** Removes the least recently used files if the disk would become full. */
  async #makeRoom(size: number): Promise<void> {
    const { folder, inUse, log } = this.#deps;
    const { bavail, bsize } = await statfs(folder);
    let missing = size + reserveBytes - bavail * bsize;
    if (missing <= 0) return;
    const kept = new Set([...this.#fetching.keys(), ...inUse().map(({ sha256 }) => sha256)]);
    const names = (await readdir(folder)).filter((name) => isFileName(name) && !kept.has(name));
    const files = await Promise.all(names.map(async (name) => ({ name, about: await stat(join(folder, name)) })));
    for (const { name, about } of files.toSorted((a, b) => a.about.mtimeMs - b.about.mtimeMs)) {
      if (missing <= 0) return;
      await unlink(join(folder, name));
      missing -= about.size;
      log.info(`removed file ${name} to free disk space`);
    }
  }
}
