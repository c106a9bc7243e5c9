import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { appendFile, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { LogLine } from '@rushhour/protocol';

const flushMs = 200;
const maxWaitingBytes = 1024 * 1024;

/**
 * Log lines on disk as JSON lines: the current file and one rotated file. If the disk is full, lines are lost but
 * nothing fails.
 */
export class LogFile {
  readonly #path: string;
  readonly #maxBytes: number;
  #bytes: number;
  #pending = '';
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, maxBytes = 5 * 1024 * 1024) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.#bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }

  readonly write = (line: LogLine): void => {
    if (this.#pending.length < maxWaitingBytes) this.#pending += `${JSON.stringify(line)}\n`;
    this.#timer ??= setTimeout(() => void this.flush(), flushMs).unref();
  };

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#append());
    await this.#writing;
  }

  /** Synchronous flush for the last lines of a process. */
  flushNow(): void {
    try {
      if (this.#bytes > this.#maxBytes) renameSync(this.#path, `${this.#path}.1`);
      appendFileSync(this.#path, this.#pending, { mode: 0o600 });
    } catch {
      // The process is exiting: nothing can be done.
    }
    this.#pending = '';
  }

  /** The newest lines that fit into `maxBytes`, oldest first. */
  async read(maxBytes: number): Promise<LogLine[]> {
    await this.flush();
    const files = [`${this.#path}.1`, this.#path];
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
    const lines: LogLine[] = [];
    let bytes = 0;
    for (const text of texts.join('').split('\n').toReversed()) {
      bytes += text.length;
      if (bytes > maxBytes) break;
      const line = parseLine(text);
      if (line !== undefined) lines.push(line);
    }
    return lines.reverse();
  }

  async #append(): Promise<void> {
    const text = this.#pending;
    this.#pending = '';
    if (text === '') return;
    try {
      if (this.#bytes > this.#maxBytes) {
        await rename(this.#path, `${this.#path}.1`);
        this.#bytes = 0;
      }
      await appendFile(this.#path, text, { mode: 0o600 });
      this.#bytes += Buffer.byteLength(text);
    } catch {
      // The lines still reach the controller and the terminal.
    }
  }
}

const parseLine = (text: string): LogLine | undefined => {
  try {
    return JSON.parse(text) as LogLine;
  } catch {
    return undefined;
  }
};
