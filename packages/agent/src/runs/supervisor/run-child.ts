import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { clockEnvironment } from '../../clock.ts';
import type { FromChild, ToChild } from '../child/child-messages.ts';

/**
 * V8 flags for processes that generate traffic. Handling a request is a chain of many small functions; with the default
 * limits V8 stops inlining halfway, which costs about 3 % of requests per second.
 */
export const engineFlags = ['--max-inlined-bytecode-size=1500', '--max-inlined-bytecode-size-cumulative=4000'] as const;

export interface RunChildEvents {
  message(message: FromChild): void;
  /** Called with each line of output. */
  line(text: string): void;
  /** Called once, as the last event. */
  exited(reason: string): void;
}

const program = fileURLToPath(new URL('../child/run-process.ts', import.meta.url));

/** The process that generates the traffic of one run. */
export class RunChild {
  readonly #process: ChildProcess;
  #lastLine = '';

  constructor(cacheFolder: string, events: RunChildEvents) {
    this.#process = fork(program, [cacheFolder], {
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: [...engineFlags],
      env: { ...process.env, ...clockEnvironment },
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
    // `close` is emitted after `exit`, when all output has been read.
    this.#process.on('close', (code, signal) => events.exited(this.#exitReason(code, signal)));
    this.#process.on('error', (error) => {
      this.#lastLine = error.message;
      if (this.#process.pid === undefined) events.exited(`no process for the run: ${error.message}`);
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  send(message: ToChild): void {
    // `exited` reports the exit; a message that comes too late is dropped.
    if (this.#process.connected) this.#process.send(message, () => {});
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  #exitReason(code: number | null, signal: string | null): string {
    if (signal !== null) return `the process of the run was killed by ${signal}`;
    const detail = this.#lastLine === '' ? '' : `: ${this.#lastLine}`;
    return `the process of the run exited with code ${code}${detail}`;
  }
}
