import { readFileSync } from 'node:fs';
import { Histogram } from '@rushhour/protocol';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import type { SampleStore } from '../../samples.ts';

/** Load of the generator in one second. */
export interface GeneratorLoad {
  /** 100 = one core fully used by this process. */
  readonly cpuPct: number;
  /** Longest delay of the event loop. */
  readonly loopLagMs: number;
  /** 99th percentile of the delay of events that had a free session. */
  readonly scheduleLagMs: number;
  /** Events that are due and have not begun. */
  readonly overdue: number;
  /** Events waited for sessions that waited for their peer. */
  readonly waitsForPeer: boolean;
  /** Processor time used on the whole machine, 100 = all of it; only measured while events are overdue. */
  readonly machinePct: number;
  /** The load is open-model: the engine waits by spinning the event loop. While it keeps up, CPU usage is meaningless. */
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
  if ((!load.isPaced || load.overdue > 0) && load.cpuPct / options.cores >= limits.cpuPct) reasons.push('cpu');
  if (load.loopLagMs >= limits.loopLagMs) reasons.push('eventLoopLag');
  if (load.scheduleLagMs >= limits.scheduleLagMs) reasons.push('scheduleLag');
  if (load.socketErrors > 0) reasons.push('socketErrors');
  return reasons;
};

const intervalMs = 20;

/** Processor times of the machine since its start, in ticks. */
const machineTimes = (): { readonly total: number; readonly idle: number } => {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
    const [user = 0, nice = 0, system = 0, idle = 0, ioWait = 0, ...rest] = line.split(/\s+/).slice(1, 9).map(Number);
    const total = [user, nice, system, idle, ioWait, ...rest].reduce((sum, ticks) => sum + ticks, 0);
    return { total, idle: idle + ioWait };
  } catch {
    return { total: 0, idle: 0 };
  }
};

/** Measures this process while an engine runs and writes the result to the engine's metrics. */
export class GeneratorLoadMonitor {
  readonly #store: SampleStore;
  readonly #timer: NodeJS.Timeout;
  #tickAt = performance.now();
  #loopLagMs = 0;
  #cpu = process.cpuUsage();
  #at = performance.now();
  #lag = new Histogram();
  #wait = new Histogram();
  #machine = machineTimes();
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
    const wait = this.#total(generatorLoadMetrics.sessionWait);
    const newLag = lag.since(this.#lag);
    const newWait = wait.since(this.#wait);
    const ownLag = newLag.since(newWait);
    const overdue = this.#sum(generatorLoadMetrics.overdue);
    const load: GeneratorLoad = {
      cpuPct: (used.user + used.system) / 10 / Math.max(1, now - this.#at),
      loopLagMs: this.#loopLagMs,
      scheduleLagMs: ownLag.count === 0 ? 0 : ownLag.quantile(0.99) / 1000,
      overdue,
      waitsForPeer: newWait.count > 0,
      machinePct: overdue > 0 ? this.#machinePct() : 0,
      isPaced: lag.count > 0,
      socketErrors: errors - this.#socketErrors,
    };
    this.#loopLagMs = 0;
    this.#cpu = process.cpuUsage();
    [this.#at, this.#lag, this.#wait, this.#socketErrors] = [now, lag, wait, errors];
    this.#store.gauge('agent.cpuPct').set(load.cpuPct);
    this.#store.gauge('agent.loopLagMs').set(load.loopLagMs);
    this.#store.gauge('agent.scheduleLagMs').set(newLag.count === 0 ? 0 : newLag.quantile(0.99) / 1000);
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

  #machinePct(): number {
    const before = this.#machine;
    this.#machine = machineTimes();
    const total = this.#machine.total - before.total;
    return total <= 0 ? 0 : 100 * (1 - (this.#machine.idle - before.idle) / total);
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
