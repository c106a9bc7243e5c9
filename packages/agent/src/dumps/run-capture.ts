import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DumpState } from '@rushhour/protocol';
import type { CaptureOrder, FromCapture, ToCapture } from './capture-messages.ts';

interface Events {
  states(states: readonly DumpState[]): void;
  line(text: string): void;
}

const program = fileURLToPath(new URL('./capture-process.ts', import.meta.url));
const beginMs = 15_000;

/** One capture of a run: the process that makes it. */
export class RunCapture {
  /** Resolves when the process is gone; what it told is told. */
  readonly over: Promise<void>;
  readonly #process: ChildProcess;
  readonly #begun = Promise.withResolvers<readonly string[]>();
  #isEnding = false;
  #lastLine = '';

  constructor(order: CaptureOrder, cacheFolder: string, events: Events) {
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
    this.#process.on('error', () => {});
    this.over = new Promise((resolve) => void this.#process.on('close', () => resolve()));
    void this.over.then(() => this.#begun.resolve([`packets are not captured: ${this.#lastLine || 'no process'}`]));
    this.#send({ type: 'begin', order });
  }

  /** Problems of single interfaces, once it captures on all others. */
  get begun(): Promise<readonly string[]> {
    const late = new Promise<readonly string[]>((resolve) => {
      setTimeout(() => resolve(['the capture does not begin']), beginMs).unref();
    });
    return Promise.race([this.#begun.promise, late]);
  }

  /** Its process has ended without being told to. */
  get hasFailed(): boolean {
    return !this.#isEnding && this.#process.exitCode !== null;
  }

  end(): Promise<void> {
    this.#isEnding = true;
    this.#send({ type: 'end' });
    return this.over;
  }

  #send(message: ToCapture): void {
    if (this.#process.connected) this.#process.send(message, () => {});
  }
}
