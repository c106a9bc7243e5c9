import type { Samples } from '../../engine.ts';
import { generatorLoadMetrics } from '../metrics/generator-load-metrics.ts';
import type { LoadDriver } from './load-driver.ts';

export interface ClientLifecycleOptions {
  /** Prefix of the metrics written here: dropped and begun events, and the target load. */
  readonly engine: string;
  readonly samples: Samples;
  readonly signal: AbortSignal;
  readonly drivers: readonly LoadDriver[];
  /** The drivers whose events are the load; the first paced one by default. */
  readonly loadDrivers?: readonly LoadDriver[];
  readonly sweepMs: number;
  /** How long to wait at the end for outstanding work. */
  readonly drainMs: number;
  /** Checks timeouts and updates gauges. */
  readonly sweep: (now: number) => void;
  /** True if everything requested has been done and answered. */
  readonly isDone: () => boolean;
  /** True if nothing is outstanding. */
  readonly isIdle: () => boolean;
  /** Begins nothing more and lets outstanding work finish. */
  readonly retire: () => void;
}

/** The lifecycle of a client: start, pause, end by itself or on request, and the wait for the last answers. */
export class ClientLifecycle {
  readonly #options: ClientLifecycleOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #done = Promise.withResolvers<void>();
  #sweeper: NodeJS.Timeout | undefined;
  isEnding = false;

  constructor(options: ClientLifecycleOptions) {
    this.#options = options;
  }

  /** `begin` starts the client; resolves when it has finished. */
  async run(begin: () => void): Promise<void> {
    const { signal, samples, engine, sweep, sweepMs } = this.#options;
    samples.counter(`${engine}.dropped`);
    for (const driver of this.#loadDrivers) driver.countInto(samples.counter(`${engine}.begun`));
    this.#reportLoad();
    this.#sweeper = setInterval(() => {
      sweep(performance.now());
      this.#reportLoad();
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

  /** Call whenever something has finished. */
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
    this.#reportLoad();
    samples.counter(`${engine}.dropped`).add(dropped);
    retire();
    this.schedule(drainMs, () => this.#done.resolve());
    this.settle();
  }

  get #loadDrivers(): readonly LoadDriver[] {
    const { drivers, loadDrivers } = this.#options;
    const first = drivers.find((driver) => driver.isPaced) ?? drivers[0];
    return loadDrivers ?? (first === undefined ? [] : [first]);
  }

  /** Reports the load in its own unit: what is wanted, and what is late. */
  #reportLoad(): void {
    const { samples, engine } = this.#options;
    const drivers = this.#loadDrivers;
    if (!drivers.some(({ isPaced }) => isPaced)) return;
    const sumOf = (value: (driver: LoadDriver) => number) => drivers.reduce((sum, driver) => sum + value(driver), 0);
    if (!this.isEnding) samples.gauge(`${engine}.targetLoad`).set(sumOf(({ rate }) => rate));
    samples.gauge(generatorLoadMetrics.overdue).set(sumOf(({ overdueCount }) => overdueCount));
  }

  /** Runs `action` after `ms` unless the client has finished by then. */
  schedule(ms: number, action: () => void): void {
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
