import type { LogLine, ToController } from '@rushhour/protocol';
import { isAtLeast } from './log.ts';

const mostWaiting = 2000;
const mostInBatch = 200;

/** Keeps lines until they can be sent to the controller; when there are too many, the oldest are lost and counted. */
export class LogShipper {
  readonly #waiting: LogLine[] = [];
  #lost = 0;

  readonly write = (line: LogLine): void => {
    if (!isAtLeast(line.level, 'info')) return;
    this.#waiting.push(line);
    if (this.#waiting.length > mostWaiting) {
      this.#waiting.shift();
      this.#lost += 1;
    }
  };

  /** Hands over what waits, for as long as `send` takes it. */
  ship(send: (message: ToController) => boolean): void {
    if (this.#lost > 0) {
      this.#waiting.unshift({
        ts: Date.now(),
        level: 'warn',
        source: 'agent',
        message: `${this.#lost} earlier log lines were not sent`,
      });
      this.#lost = 0;
    }
    while (this.#waiting.length > 0) {
      if (!send({ type: 'logs', lines: this.#waiting.slice(0, mostInBatch) })) return;
      this.#waiting.splice(0, mostInBatch);
    }
  }
}
