import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, LoadShortfall, PlaneCommand, Summary } from '@rushhour/protocol';
import type { AccessGroups } from '../../access/access-groups.ts';
import { clockNow, systemClockStepMs } from '../../clock.ts';
import {
  type Engine,
  type Host,
  isCommandable,
  isLoadChangeable,
  isPausable,
  isSelfJudging,
  type LoadChange,
  type PreparedEngine,
} from '../../engine.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import { SampleStore } from '../../samples.ts';
import { GeneratorLoadMonitor, type SaturationReason, saturationReasonsOf } from './generator-load-monitor.ts';
import { phaseAt } from './phase.ts';
import { prepareJob } from './prepare-job.ts';
import { Sampler } from './sampler.ts';
import { ShortfallWatch } from './shortfall.ts';

export interface Outcome {
  /** finished: planned end reached; stopped: ended early on request; failed: could not start or crashed. */
  readonly status: 'finished' | 'stopped' | 'failed';
  readonly error?: string;
  /** Error code, such as `EADDRINUSE` or `TARGET_NOT_ALLOWED`. */
  readonly code?: string;
  /** Remarks of the engine on the validity of the result. */
  readonly notes: readonly string[];
  /** Seconds during which the generator itself was the bottleneck, by reason. */
  readonly saturatedSeconds: Readonly<Partial<Record<SaturationReason, number>>>;
  /** The target load was not reached. */
  readonly shortfall?: LoadShortfall;
}

export interface JobDeps {
  readonly engines: ReadonlyMap<string, Engine>;
  readonly host: Host;
  /**
   * Called when everything is prepared; resolves with the common start on the clock of `clockNow`.
   */
  readonly barrier: () => Promise<number>;
  /** Sessions that jobs of the same run share. */
  readonly accessGroups?: AccessGroups;
  readonly stop: AbortSignal;
  /** Aborted after or with `stop` when there is no time to wind down. */
  readonly abort?: AbortSignal;
  readonly onSummary: (summary: Summary) => void;
  /** Progress messages of the engine. */
  readonly onProgress?: (message: string) => void;
  /** Time for an engine to wind down before it is closed. */
  readonly windDownMs?: number;
}

/** Warms up the per-second work, which is slow the first few times, before traffic starts. */
const warmUpSampling = (): void => {
  const store = new SampleStore();
  const sampler = new Sampler(store, clockNow());
  const monitor = new GeneratorLoadMonitor(store);
  for (let second = 1; second <= 3; second++) {
    store.counter('rehearsed').add(second);
    store.histogram(generatorLoadMetrics.scheduleLag).record(second);
    saturationReasonsOf(monitor.take(), { cores: 1 });
    sampler.take(clockNow(), 'steady');
  }
  monitor.close();
};

export class CannotPause extends Error {}

// A timer may fire 1 ms early.
const timerSlackMs = 2;
/** Smaller changes are adjustments by NTP. */
const minClockStepMs = 300;

/** One job: check, prepare, wait for the start, run, close. Stop, deadline and failure end it by the same signal. */
export class RunningJob {
  readonly sampler: Sampler;
  readonly outcome: Promise<Outcome>;
  readonly #job: Job;
  readonly #deps: JobDeps;
  readonly #store = new SampleStore();
  readonly #planned = new AbortController();
  readonly #notes = new Set<string>();
  readonly #saturated: Partial<Record<SaturationReason, number>> = {};
  readonly #shortfall = new ShortfallWatch();
  #run: PreparedEngine | undefined;
  #startedAt = 0;
  #pausedMs = 0;
  #pausedAt: number | undefined;
  #startsPaused = false;
  #deadline: NodeJS.Timeout | undefined;
  #clockStepMs = systemClockStepMs();

  constructor(job: Job, deps: JobDeps) {
    this.#job = job;
    this.#deps = deps;
    this.sampler = new Sampler(this.#store, clockNow());
    this.outcome = this.#execute();
  }

  /**
   * Stops sending but keeps sessions and counters; the planned end moves by the length of the pause. Servers have
   * nothing to stop, but their end moves with that of their clients. Before the start the pause is remembered.
   */
  pause(): void {
    this.#startsPaused = true;
    if (this.#startedAt === 0 && !this.#planned.signal.aborted) return;
    const run = this.#running();
    if (!this.#canPause(run)) throw new CannotPause(`${this.#job.engine} cannot pause`);
    if (this.#pausedAt !== undefined) return;
    if (isPausable(run)) run.pause();
    this.#pausedAt = clockNow();
    clearTimeout(this.#deadline);
  }

  resume(): void {
    this.#startsPaused = false;
    if (this.#startedAt === 0 && !this.#planned.signal.aborted) return;
    const run = this.#running();
    if (this.#pausedAt === undefined) return;
    this.#pausedMs += clockNow() - this.#pausedAt;
    this.#pausedAt = undefined;
    if (isPausable(run)) run.resume();
    this.#armDeadline();
  }

  changeLoad(change: LoadChange): { readonly rejected?: string } {
    const run = this.#running();
    return isLoadChangeable(run) ? run.changeLoad(change) : { rejected: `${this.#job.engine} has no changeable load` };
  }

  command(command: PlaneCommand): { readonly rejected?: string } {
    const run = this.#running();
    return isCommandable(run) ? run.command(command) : { rejected: `${this.#job.engine} has nothing to command` };
  }

  #canPause(run: PreparedEngine): boolean {
    return isPausable(run) || (this.#job.config as { role?: string } | null)?.role === 'server';
  }

  #running(): PreparedEngine {
    if (this.#run === undefined || this.#startedAt === 0) throw new Error(`${this.#job.engine} is not running`);
    return this.#run;
  }

  async #execute(): Promise<Outcome> {
    const signal = AbortSignal.any([this.#deps.stop, this.#planned.signal]);
    let failure: Error | undefined;
    try {
      this.#run = await prepareJob(this.#job, {
        engines: this.#deps.engines,
        host: this.#deps.host,
        accessGroups: this.#deps.accessGroups,
        store: this.#store,
        signal,
        note: (remark) => this.#notes.add(remark),
        progress: (message) => this.#deps.onProgress?.(message),
      });
      warmUpSampling();
      await this.#waitForStart(signal);
      if (!signal.aborted) await this.#runTraffic(this.#run, signal);
    } catch (cause) {
      failure = cause instanceof Error ? cause : new Error(String(cause));
    }
    return this.#finish(failure);
  }

  async #waitForStart(signal: AbortSignal): Promise<void> {
    const startAt = await Promise.race([this.#deps.barrier(), aborted(signal)]);
    const waitMs = (startAt ?? 0) - clockNow();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => {});
  }

  async #runTraffic(run: PreparedEngine, signal: AbortSignal): Promise<void> {
    const monitor = new GeneratorLoadMonitor(this.#store);
    // The engine's clock starts in this call, so the planned end is computed after it.
    const ended = run.start();
    this.#startedAt = clockNow();
    this.sampler.restart(this.#startedAt);
    if (this.#startsPaused && this.#canPause(run)) this.pause();
    else this.#armDeadline();
    const ticking = this.#everySecond(() => this.#sample(monitor));
    try {
      await Promise.race([ended, this.#windDownTimeout(signal)]);
    } finally {
      clearTimeout(this.#deadline);
      ticking.abort();
      monitor.close();
    }
  }

  #sample(monitor: GeneratorLoadMonitor): void {
    const load = monitor.take();
    const isJudged = this.#run === undefined || !isSelfJudging(this.#run);
    if (isJudged) this.#shortfall.take(load);
    for (const reason of isJudged ? saturationReasonsOf(load, { cores: this.#job.cpuCores }) : []) {
      this.#saturated[reason] = (this.#saturated[reason] ?? 0) + 1;
    }
    this.#noteClockStep();
    this.#report();
  }

  #noteClockStep(): void {
    const stepMs = systemClockStepMs();
    const change = stepMs - this.#clockStepMs;
    if (Math.abs(change) < minClockStepMs) return;
    this.#clockStepMs = stepMs;
    const direction = change > 0 ? 'forward' : 'back';
    const by = `${direction} by ${(Math.abs(change) / 1000).toFixed(1)} s`;
    this.#notes.add(`the system clock of the agent was set ${by} during the run; the measurement uses monotonic time`);
  }

  #report(isLast = false): void {
    const now = clockNow();
    // A second belongs to the phase of its middle: timers fire early, and late after a stall.
    const pausedMs = this.#pausedMs + (this.#pausedAt === undefined ? 0 : now - this.#pausedAt);
    const middle = this.sampler.middleOf(now);
    const seconds = (middle - this.#startedAt - pausedMs) / 1000;
    const isPaused = this.#pausedAt !== undefined && this.#pausedAt <= middle;
    const phase = isPaused ? 'paused' : phaseAt(Math.max(0, seconds), this.#job.duration);
    this.#deps.onSummary(this.sampler.take(now, phase));
    if (isLast) for (const summary of this.sampler.rest(now, phase)) this.#deps.onSummary(summary);
  }

  /** Ticks at whole seconds after the start, even if a tick is late. */
  #everySecond(tick: () => void): AbortController {
    const controller = new AbortController();
    const begun = performance.now();
    let second = 0;
    const next = () => {
      const passedMs = performance.now() - begun;
      // Timers may fire early: each second ticks once.
      second = Math.max(second, Math.floor(passedMs / 1000)) + 1;
      const timer = setTimeout(
        () => {
          if (controller.signal.aborted) return;
          tick();
          next();
        },
        second * 1000 - passedMs,
      );
      controller.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    };
    next();
    return controller;
  }

  async #windDownTimeout(signal: AbortSignal): Promise<void> {
    await aborted(signal);
    const abort = this.#deps.abort ?? new AbortController().signal;
    await Promise.race([sleep(this.#deps.windDownMs ?? 5000, undefined, { ref: false }), aborted(abort)]);
    if (abort.aborted) return;
    this.#notes.add(`${this.#job.engine} did not wind down in time`);
  }

  #armDeadline(): void {
    if (this.#job.duration.mode !== 'time') return;
    const left = this.#startedAt + this.#job.duration.seconds * 1000 + this.#pausedMs - clockNow();
    this.#deadline = setTimeout(() => this.#planned.abort(), left + timerSlackMs);
  }

  async #finish(failure: Error | undefined): Promise<Outcome> {
    let problem = failure;
    this.#planned.abort();
    await this.#run?.close().catch((cause: Error) => {
      problem ??= cause;
    });
    if (this.#startedAt !== 0) this.#report(true);
    this.#startedAt = 0;
    const { engine, cpuCores: cores } = this.#job;
    const isJudged = this.#run !== undefined && !isSelfJudging(this.#run);
    const shortfall = isJudged ? this.#shortfall.result(this.#store.metrics, { engine, cores }) : undefined;
    const end = { notes: [...this.#notes], saturatedSeconds: this.#saturated, ...(shortfall && { shortfall }) };
    if (problem === undefined) return { status: this.#deps.stop.aborted ? 'stopped' : 'finished', ...end };
    const { code } = problem as { code?: unknown };
    return { status: 'failed', error: problem.message, ...(typeof code === 'string' && { code }), ...end };
  }
}
