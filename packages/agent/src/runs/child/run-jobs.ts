import type { Job, LoadChange } from '@rushhour/protocol';
import type { Engine, Host } from '../../engine.ts';
import { CannotPause, type Outcome, RunningJob } from '../job/running-job.ts';
import type { FromChild, Problem } from './child-messages.ts';

export interface RunJobsDeps {
  readonly engines: ReadonlyMap<string, Engine>;
  readonly host: Host;
  readonly report: (message: FromChild) => void;
}

interface Part {
  readonly job: Job;
  readonly running: RunningJob;
  readonly stop: AbortController;
  readonly abort: AbortController;
  isReady: boolean;
  outcome?: Outcome;
}

const problemOf = ({ code, error }: Outcome, jobIndex: number): Problem => ({
  order: jobIndex,
  code: code ?? 'PREPARE_FAILED',
  message: error ?? 'could not be prepared',
});

/** All jobs of one run: prepared together, begun at one time, ended each by itself. */
export class RunJobs {
  readonly #deps: RunJobsDeps;
  readonly #start = Promise.withResolvers<number>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #parts: Part[];
  #isPrepared = false;
  #isPaused = false;
  #isStarted = false;

  constructor(jobs: readonly Job[], deps: RunJobsDeps) {
    this.#deps = deps;
    this.#parts = jobs.map((job, index) => this.#begin(job, index));
    this.#parts.forEach((part, index) => {
      void part.running.outcome.then((outcome) => this.#settle(part, index, outcome));
    });
    if (jobs.length === 0) this.#checkPrepared();
  }

  /** Resolves when every job has ended and was reported. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  start(at: number): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#start.resolve(at);
    const timer = setTimeout(() => this.#deps.report({ type: 'started', at: Date.now() }), at - Date.now());
    void this.ended.then(() => clearTimeout(timer));
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#tellAll((running) => running.pause());
    this.#deps.report({ type: 'event', kind: 'paused', severity: 'info', message: 'sending has ceased' });
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#tellAll((running) => running.resume());
    this.#deps.report({ type: 'event', kind: 'resumed', severity: 'info', message: 'sending goes on' });
  }

  changeLoad(jobIndex: number, change: LoadChange): void {
    const rejected = this.#tryChange(jobIndex, change);
    const asked = Object.entries(change).map(([name, value]) => `${name} ${value}`);
    this.#deps.report(
      rejected === undefined
        ? { type: 'event', kind: 'loadChanged', severity: 'info', message: asked.join(', '), order: jobIndex }
        : { type: 'event', kind: 'loadRejected', severity: 'warning', message: rejected, order: jobIndex },
    );
  }

  stop(mode: 'graceful' | 'abort', jobIndexes: readonly number[] = this.#parts.keys().toArray()): void {
    for (const index of jobIndexes) {
      this.#parts[index]?.stop.abort();
      if (mode === 'abort') this.#parts[index]?.abort.abort();
    }
  }

  #begin(job: Job, index: number): Part {
    const stop = new AbortController();
    const abort = new AbortController();
    const running = new RunningJob(job, {
      ...this.#deps,
      stop: stop.signal,
      abort: abort.signal,
      barrier: async () => {
        (this.#parts[index] as Part).isReady = true;
        this.#checkPrepared();
        return (await this.#start.promise) + (job.startAfterSec ?? 0) * 1000;
      },
      onSummary: (summary) => {
        this.#deps.report({ type: 'summary', order: index, summary });
        // The agent keeps it from here on.
        running.sampler.acknowledge(summary.seq);
      },
      onProgress: (message) =>
        this.#deps.report({ type: 'event', kind: 'progress', severity: 'info', message, order: index }),
    });
    return { job, running, stop, abort, isReady: false };
  }

  /** When all jobs are ready the run is; when one has failed, the others are given up. */
  #checkPrepared(): void {
    if (this.#isPrepared || !this.#parts.every(({ isReady, outcome }) => isReady || outcome !== undefined)) return;
    this.#isPrepared = true;
    const problems = this.#parts.flatMap(({ outcome }, index) =>
      outcome?.status === 'failed' ? [problemOf(outcome, index)] : [],
    );
    const hasEnded = this.#parts.some(({ outcome }) => outcome !== undefined);
    if (problems.length > 0) this.#deps.report({ type: 'prepareFailed', problems });
    else if (!hasEnded) this.#deps.report({ type: 'prepared' });
    if (hasEnded) this.stop('abort');
    this.#parts.forEach(({ outcome }, jobIndex) => {
      if (outcome !== undefined) this.#deps.report({ type: 'orderEnded', order: jobIndex, outcome });
    });
    this.#checkEnded();
  }

  #settle(part: Part, jobIndex: number, outcome: Outcome): void {
    part.outcome = outcome;
    if (this.#isPrepared) {
      this.#deps.report({ type: 'orderEnded', order: jobIndex, outcome });
      this.#checkEnded();
    } else this.#checkPrepared();
  }

  #checkEnded(): void {
    if (this.#parts.every(({ outcome }) => outcome !== undefined)) this.#ended.resolve();
  }

  /** Jobs that have ended need not be told; servers only answer and have nothing to pause. */
  #tellAll(tell: (running: RunningJob) => void): void {
    this.#parts.forEach(({ running, outcome, job: { config } }, jobIndex) => {
      if (outcome !== undefined) return;
      try {
        tell(running);
      } catch (error) {
        // One that is just ending needs not be told either.
        if (!(error instanceof CannotPause) || (config as { role?: string }).role !== 'client') return;
        this.#deps.report({
          type: 'event',
          kind: 'pauseRefused',
          severity: 'warning',
          message: error.message,
          order: jobIndex,
        });
      }
    });
  }

  #tryChange(jobIndex: number, change: LoadChange): string | undefined {
    try {
      const running = this.#parts[jobIndex]?.running;
      return running === undefined ? `there is no job ${jobIndex}` : running.changeLoad(change).rejected;
    } catch (error) {
      return (error as Error).message;
    }
  }
}
