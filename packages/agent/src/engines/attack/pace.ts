import { setTimeout as sleep } from 'node:timers/promises';

/** Starts attempts at an even rate. Attempts held back by a pause start at that rate afterwards, not in a burst. */
export class Pace {
  readonly #signal: AbortSignal;
  #everyMs: number;
  #due = 0;
  #resumed: PromiseWithResolvers<void> | undefined;

  constructor(rate: number | undefined, signal: AbortSignal) {
    this.#everyMs = rate === undefined ? 0 : 1000 / rate;
    this.#signal = signal;
  }

  begin(): void {
    this.#due = performance.now();
  }

  pause(): void {
    this.#resumed ??= Promise.withResolvers();
  }

  resume(): void {
    this.#due = Math.max(this.#due, performance.now());
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  change(rate: number): void {
    this.#everyMs = 1000 / rate;
  }

  /** Resolves when the next attempt may start or the run has ended. */
  async waitForNext(delayMs = 0): Promise<void> {
    const due = this.#due;
    this.#due = Math.max(due, performance.now() - this.#everyMs) + this.#everyMs;
    await this.#sleep(Math.max(due - performance.now(), 0) + delayMs);
    while (this.#resumed !== undefined && !this.#signal.aborted) {
      await Promise.race([this.#resumed.promise, new Promise((end) => this.#signal.addEventListener('abort', end))]);
    }
  }

  async #sleep(ms: number): Promise<void> {
    if (ms > 0) await sleep(ms, undefined, { signal: this.#signal }).catch(() => {});
  }
}
