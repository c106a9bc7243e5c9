import type { Samples } from '../../engine.ts';
import type { LoadDriver } from './load-driver.ts';

export interface LifeOptions {
  /** Prefix of the metrics it writes: what was dropped, the load that is wanted. */
  readonly engine: string;
  readonly samples: Samples;
  readonly signal: AbortSignal;
  /** The one that carries the ordered load comes first. */
  readonly drivers: readonly LoadDriver[];
  readonly sweepMs: number;
  /** How long to wait at the end for what is under way. */
  readonly drainMs: number;
  /** Looks after time-outs and gauges. */
  readonly sweep: (now: number) => void;
  /** True when everything ordered has been done and answered. */
  readonly isDone: () => boolean;
  /** True when nothing is under way. */
  readonly isIdle: () => boolean;
  /** Begins nothing more, lets what is under way end. */
  readonly retire: () => void;
}

/** How a client begins, is paused, ends by itself or is ended, and waits for the last answers. */
export class ClientLife {
  readonly #options: LifeOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #done = Promise.withResolvers<void>();
  #sweeper: NodeJS.Timeout | undefined;
  isEnding = false;

  constructor(options: LifeOptions) {
    this.#options = options;
  }

  /** `begin` sets everything going; resolves when all is over. */
  async run(begin: () => void): Promise<void> {
    const { signal, samples, engine, drivers, sweep, sweepMs } = this.#options;
    const targetLoad = samples.gauge(`${engine}.targetLoad`);
    this.#sweeper = setInterval(() => {
      sweep(performance.now());
      targetLoad.set(drivers.find((driver) => driver.isPaced)?.rate ?? 0);
    }, sweepMs);
    signal.addEventListener('abort', () => this.end(), { once: true });
    if (signal.aborted) this.end();
    else begin();
    await this.#done.promise;
  }

  pause(): void {
    for (const driver of this.#options.drivers) driver.pause();
  }

  resume(): void {
    for (const driver of this.#options.drivers) driver.resume();
  }

  /** To be called whenever something has ended. */
  settle(): void {
    const { isIdle, isDone } = this.#options;
    if (this.isEnding) {
      if (isIdle()) this.#done.resolve();
    } else if (isDone()) this.end();
  }

  end(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    const { drivers, engine, samples, drainMs, retire } = this.#options;
    const dropped = drivers.reduce((sum, driver) => sum + driver.stop(), 0);
    samples.counter(`${engine}.dropped`).add(dropped);
    retire();
    this.later(drainMs, () => this.#done.resolve());
    this.settle();
  }

  /** Does something after a while unless all is over by then. */
  later(ms: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, ms);
    this.#timers.add(timer);
  }

  close(): void {
    this.end();
    this.#done.resolve();
    clearInterval(this.#sweeper);
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
