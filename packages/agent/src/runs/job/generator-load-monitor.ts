import { Histogram } from '@rushhour/protocol';
import { strainMetrics } from '../../net/metrics/generator-load-metrics.ts';
import type { SampleStore } from '../../samples.ts';

/** How hard one second was for the generator itself. */
export interface Strain {
  /** 100 = one core fully used by this process. */
  readonly cpuPct: number;
  /** The longest time the event loop was away. */
  readonly loopLagMs: number;
  /** Lateness of the 99th percentile of sends that had a free session. */
  readonly scheduleLagMs: number;
  /** The load is open-model: the engine waits by turning the event loop, so its processor share says nothing. */
  readonly isPaced: boolean;
  /** Failures of the machine's own sockets: no ports, no descriptors, no buffers. */
  readonly socketErrors: number;
}

export interface StrainLimits {
  readonly cpuPct: number;
  readonly loopLagMs: number;
  readonly scheduleLagMs: number;
}

const strainLimits: StrainLimits = { cpuPct: 97, loopLagMs: 100, scheduleLagMs: 20 };

export type SaturationReason = 'cpu' | 'eventLoopLag' | 'scheduleLag' | 'socketErrors';

export const saturationReasonsOf = (
  strain: Strain,
  options: { cores: number; limits?: StrainLimits },
): SaturationReason[] => {
  const limits = options.limits ?? strainLimits;
  const reasons: SaturationReason[] = [];
  if (!strain.isPaced && strain.cpuPct / options.cores >= limits.cpuPct) reasons.push('cpu');
  if (strain.loopLagMs >= limits.loopLagMs) reasons.push('eventLoopLag');
  if (strain.scheduleLagMs >= limits.scheduleLagMs) reasons.push('scheduleLag');
  if (strain.socketErrors > 0) reasons.push('socketErrors');
  return reasons;
};

const beatMs = 20;

/** Watches the process while an engine runs and writes what it sees into the engine's metrics. */
export class StrainWatch {
  readonly #store: SampleStore;
  readonly #beat: NodeJS.Timeout;
  #beatAt = performance.now();
  #loopLagMs = 0;
  #cpu = process.cpuUsage();
  #at = performance.now();
  #lag = new Histogram();
  #socketErrors = 0;

  constructor(store: SampleStore) {
    this.#store = store;
    this.#beat = setInterval(() => this.#noteLag(), beatMs).unref();
  }

  /** The strain since the last call. */
  take(): Strain {
    this.#noteLag();
    const now = performance.now();
    const used = process.cpuUsage(this.#cpu);
    const lag = this.#total(strainMetrics.scheduleLag);
    const errors = this.#sum(strainMetrics.socketErrors);
    const newLag = lag.since(this.#lag);
    const strain: Strain = {
      cpuPct: (used.user + used.system) / 10 / Math.max(1, now - this.#at),
      loopLagMs: this.#loopLagMs,
      scheduleLagMs: newLag.count === 0 ? 0 : newLag.quantile(0.99) / 1000,
      isPaced: lag.count > 0,
      socketErrors: errors - this.#socketErrors,
    };
    this.#loopLagMs = 0;
    this.#cpu = process.cpuUsage();
    [this.#at, this.#lag, this.#socketErrors] = [now, lag, errors];
    this.#store.gauge('agent.cpuPct').set(strain.cpuPct);
    this.#store.gauge('agent.loopLagMs').set(strain.loopLagMs);
    this.#store.gauge('agent.scheduleLagMs').set(strain.scheduleLagMs);
    return strain;
  }

  close(): void {
    clearInterval(this.#beat);
  }

  #noteLag(): void {
    const now = performance.now();
    this.#loopLagMs = Math.max(this.#loopLagMs, now - this.#beatAt - beatMs);
    this.#beatAt = now;
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
