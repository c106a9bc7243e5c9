import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { FromChild, ToChild } from '../child/child-messages.ts';
import { engineFlags } from './engine-flags.ts';

export interface RunChildEvents {
  message(message: FromChild): void;
  /** What the process wrote, line by line. */
  line(text: string): void;
  /** Once, after everything else. */
  exited(how: string): void;
}

const program = fileURLToPath(new URL('../child/run-process.ts', import.meta.url));

/** The process that makes the traffic of one run. */
export class RunChild {
  readonly #process: ChildProcess;
  #lastLine = '';

  constructor(cacheFolder: string, events: RunChildEvents) {
    this.#process = fork(program, [cacheFolder], {
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: [...engineFlags],
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      if (stream === null) continue;
      createInterface(stream).on('line', (text) => {
        if (text.trim() !== '') this.#lastLine = text.trim();
        events.line(text);
      });
    }
    this.#process.on('message', (message) => {
      if ((message as { type: string }).type !== 'bye') events.message(message as FromChild);
    });
    // `close` follows `exit` when everything it wrote has been read.
    this.#process.on('close', (code, signal) => events.exited(this.#howOf(code, signal)));
    this.#process.on('error', (error) => {
      this.#lastLine = error.message;
      if (this.#process.pid === undefined) events.exited(`no process for the run: ${error.message}`);
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  send(message: ToChild): void {
    // Whether it still lives is learnt from `exited`; a message that comes too late is of no use.
    if (this.#process.connected) this.#process.send(message, () => {});
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  #howOf(code: number | null, signal: string | null): string {
    if (signal !== null) return `the process of the run was ended by ${signal}`;
    const said = this.#lastLine === '' ? '' : `: ${this.#lastLine}`;
    return `the process of the run ended with code ${code}${said}`;
  }
}
