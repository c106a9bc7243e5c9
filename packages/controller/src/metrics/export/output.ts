import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Point } from './points.ts';

/** Points that wait while a receiver is away; the oldest go first. */
const maxWaiting = 200_000;
const batchPoints = 5000;
const firstRetryMs = 1000;
const maxRetryMs = 60_000;

/** The receiver understood the points and does not want them: sending them again is of no use. */
export class PointsRefused extends Error {
  override readonly name = 'PointsRefused';
}

export interface OutputCounts {
  sent: number;
  dropped: number;
  failures: number;
}

interface Options {
  readonly name: string;
  readonly log: Logger;
  /** Throws if the receiver did not take them. */
  send(points: readonly Point[]): Promise<void>;
}

/** A receiver with a queue of its own: it is slow or away without holding up anything else. */
export class Output {
  readonly name: string;
  readonly counts: OutputCounts = { sent: 0, dropped: 0, failures: 0 };
  readonly #options: Options;
  readonly #end = new AbortController();
  #waiting: Point[] = [];
  #sending: Promise<void> | undefined;

  constructor(options: Options) {
    this.name = options.name;
    this.#options = options;
  }

  add(points: readonly Point[]): void {
    this.#waiting = this.#waiting.concat(points);
    const excess = this.#waiting.length - maxWaiting;
    if (excess > 0) {
      this.#waiting.splice(0, excess);
      this.counts.dropped += excess;
    }
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  /** Sends what waits if the receiver takes it, and ends. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    let retryMs = firstRetryMs;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, batchPoints);
      const error = await this.#options.send(batch).then(
        () => undefined,
        (cause: Error) => cause,
      );
      if (error === undefined || error instanceof PointsRefused) {
        if (error !== undefined)
          this.#options.log.error({ output: this.name, error: error.message }, 'metrics were refused');
        // Points added meanwhile may have pushed out the first of the batch.
        this.#waiting = this.#waiting.slice(Math.max(0, this.#waiting.indexOf(batch.at(-1) as Point) + 1));
        this.counts[error === undefined ? 'sent' : 'dropped'] += batch.length;
        retryMs = firstRetryMs;
        continue;
      }
      this.counts.failures += 1;
      this.#options.log.warn({ output: this.name, error: error.message, retryMs }, 'metrics were not taken');
      if (this.#end.signal.aborted) return;
      await sleep(retryMs, undefined, { signal: this.#end.signal }).catch(() => {});
      retryMs = Math.min(maxRetryMs, retryMs * 2);
    }
  }
}
