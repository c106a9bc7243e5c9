import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DumpState } from '@rushhour/protocol';
import type { CaptureOptions, FromCapture, ToCapture } from './capture-messages.ts';

interface Events {
  states(states: readonly DumpState[]): void;
  line(text: string): void;
}

const program = fileURLToPath(new URL('./capture-process.ts', import.meta.url));
const beginMs = 30_000;
/** Hashing a large capture takes time. */
const endMs = 120_000;

/** The capture process of a run. */
export class RunCapture {
  /** Resolves when the process has exited and its messages are handled. */
  readonly over: Promise<void>;
  readonly #process: ChildProcess;
  readonly #begun = Promise.withResolvers<readonly string[]>();
  #lastLine = '';

  constructor(job: CaptureOptions, cacheFolder: string, events: Events) {
    const stdio: ('ignore' | 'pipe' | 'ipc')[] = ['ignore', 'ignore', 'pipe', 'ipc'];
    this.#process = fork(program, [cacheFolder], { stdio, execArgv: [] });
    this.#process.stderr?.on('data', (bytes: Buffer) => {
      this.#lastLine = bytes.toString().trim().split('\n').at(-1) ?? '';
      events.line(bytes.toString().trim());
    });
    this.#process.on('message', (message: FromCapture) => {
      if (message.type === 'begun') this.#begun.resolve(message.problems);
      else events.states(message.states);
    });
    this.over = new Promise((resolve) => {
      this.#process.on('close', () => resolve());
      this.#process.on('error', (error) => {
        this.#lastLine = error.message;
        if (this.#process.pid === undefined) resolve();
      });
    });
    void this.over.then(() => this.#begun.resolve([`packets are not captured: ${this.#lastLine || 'no process'}`]));
    this.#send({ type: 'begin', job });
  }

  /** Problems of individual interfaces, when all others are captured. */
  get begun(): Promise<readonly string[]> {
    const late = new Promise<readonly string[]>((resolve) => {
      setTimeout(() => resolve(['the capture did not start in time']), beginMs).unref();
    });
    return Promise.race([this.#begun.promise, late]);
  }

  end(): Promise<void> {
    this.#send({ type: 'end' });
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), endMs).unref();
    return this.over.finally(() => clearTimeout(timer));
  }

  #send(message: ToCapture): void {
    if (this.#process.connected) this.#process.send(message, () => {});
  }
}
