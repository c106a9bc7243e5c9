import { Histogram } from '@rushhour/protocol';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import type { SampleStore } from '../../samples.ts';

/** Load of the generator in one second. */
export interface GeneratorLoad {
  /** 100 = one core fully used by this process. */
  readonly cpuPct: number;
  /** Longest delay of the event loop. */
  readonly loopLagMs: number;
  /** 99th percentile of the delay of sends that had a free session. */
  readonly scheduleLagMs: number;
  /** The load is open-model: the engine waits by spinning the event loop, so CPU usage is meaningless. */
  readonly isPaced: boolean;
  /** Local socket errors: no ports, descriptors or buffers. */
  readonly socketErrors: number;
}

export interface GeneratorLoadLimits {
  readonly cpuPct: number;
  readonly loopLagMs: number;
  readonly scheduleLagMs: number;
}

const defaultLimits: GeneratorLoadLimits = { cpuPct: 97, loopLagMs: 100, scheduleLagMs: 20 };

export type SaturationReason = 'cpu' | 'eventLoopLag' | 'scheduleLag' | 'socketErrors';

export const saturationReasonsOf = (
  load: GeneratorLoad,
  options: { cores: number; limits?: GeneratorLoadLimits },
): SaturationReason[] => {
  const limits = options.limits ?? defaultLimits;
  const reasons: SaturationReason[] = [];
  if (!load.isPaced && load.cpuPct / options.cores >= limits.cpuPct) reasons.push('cpu');
  if (load.loopLagMs >= limits.loopLagMs) reasons.push('eventLoopLag');
  if (load.scheduleLagMs >= limits.scheduleLagMs) reasons.push('scheduleLag');
  if (load.socketErrors > 0) reasons.push('socketErrors');
  return reasons;
};

const intervalMs = 20;

/** Measures this process while an engine runs and writes the result to the engine's metrics. */
export class GeneratorLoadMonitor {
  readonly #store: SampleStore;
  readonly #timer: NodeJS.Timeout;
  #tickAt = performance.now();
  #loopLagMs = 0;
  #cpu = process.cpuUsage();
  #at = performance.now();
  #lag = new Histogram();
  #socketErrors = 0;

  constructor(store: SampleStore) {
    this.#store = store;
    this.#timer = setInterval(() => this.#measureLag(), intervalMs).unref();
  }

  /** The load since the last call. */
  take(): GeneratorLoad {
    this.#measureLag();
    const now = performance.now();
    const used = process.cpuUsage(this.#cpu);
    const lag = this.#total(generatorLoadMetrics.scheduleLag);
    const errors = this.#sum(generatorLoadMetrics.socketErrors);
    const newLag = lag.since(this.#lag);
    const load: GeneratorLoad = {
      cpuPct: (used.user + used.system) / 10 / Math.max(1, now - this.#at),
      loopLagMs: this.#loopLagMs,
      scheduleLagMs: newLag.count === 0 ? 0 : newLag.quantile(0.99) / 1000,
      isPaced: lag.count > 0,
      socketErrors: errors - this.#socketErrors,
    };
    this.#loopLagMs = 0;
    this.#cpu = process.cpuUsage();
    [this.#at, this.#lag, this.#socketErrors] = [now, lag, errors];
    this.#store.gauge('agent.cpuPct').set(load.cpuPct);
    this.#store.gauge('agent.loopLagMs').set(load.loopLagMs);
    this.#store.gauge('agent.scheduleLagMs').set(load.scheduleLagMs);
    return load;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #measureLag(): void {
    const now = performance.now();
    this.#loopLagMs = Math.max(this.#loopLagMs, now - this.#tickAt - intervalMs);
    this.#tickAt = now;
  }

  #total(name: string): Histogram {
    const total = new Histogram();
    for (const metric of this.#store.metrics) if (metric.name === name) total.merge(new Histogram(metric.buffer));
    return total;
  }

  #sum(name: string): number {
    let sum = 0;
    for (const metric of this.#store.metrics) {
      if (metric.name === name) sum += new Float64Array(metric.buffer)[0] as number;
    }
    return sum;
  }
}
