import type { LogLine, ToController } from '@rushhour/protocol';
import { isLoggedAt } from './log.ts';

const maxWaiting = 2000;
const maxBatchLines = 200;

/** Queues lines until they can be sent to the controller; on overflow the oldest are dropped and counted. */
export class LogShipper {
  readonly #queue: LogLine[] = [];
  #dropped = 0;

  readonly write = (line: LogLine): void => {
    if (!isLoggedAt(line.level, 'info')) return;
    this.#queue.push(line);
    if (this.#queue.length > maxWaiting) {
      this.#queue.shift();
      this.#dropped += 1;
    }
  };

  /** Sends queued lines as long as `send` accepts them. */
  ship(send: (message: ToController) => boolean): void {
    if (this.#dropped > 0) {
      this.#queue.unshift({
        ts: Date.now(),
        level: 'warn',
        source: 'agent',
        message: `${this.#dropped} earlier log lines were not sent`,
      });
      this.#dropped = 0;
    }
    while (this.#queue.length > 0) {
      if (!send({ type: 'logs', lines: this.#queue.slice(0, maxBatchLines) })) return;
      this.#queue.splice(0, maxBatchLines);
    }
  }
}
