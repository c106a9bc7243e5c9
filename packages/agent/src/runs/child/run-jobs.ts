import { readFileSync } from 'node:fs';
import { FileReference, type Job, type LoadChange, type PlaneCommand } from '@rushhour/protocol';
import { Check } from 'typebox/value';
import { AccessGroups } from '../../access/access-groups.ts';
import { clockNow } from '../../clock.ts';
import type { Engine, Host } from '../../engine.ts';
import { CannotPause, type Outcome, RunningJob } from '../job/running-job.ts';
import type { FromChild, Problem } from './child-messages.ts';

const contentOf = ({ $file, as = 'path' }: FileReference, paths: ReadonlyMap<string, string>): string => {
  const path = paths.get($file);
  if (path === undefined) throw new Error(`file ${$file} is not among the files of the run`);
  if (as === 'path') return path;
  return readFileSync(path, as === 'text' ? 'utf8' : 'base64');
};

/** Replaces every `{"$file": …}` in a configuration. */
export const resolveFiles = (config: unknown, paths: ReadonlyMap<string, string>): unknown => {
  if (Array.isArray(config)) return config.map((item) => resolveFiles(item, paths));
  if (typeof config !== 'object' || config === null) return config;
  if (Check(FileReference, config)) return contentOf(config, paths);
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [name, resolveFiles(value, paths)]));
};

export interface RunJobsDeps {
  readonly engines: ReadonlyMap<string, Engine>;
  readonly host: Host;
  readonly report: (message: FromChild) => void;
}

interface ActiveJob {
  readonly order: Job;
  readonly running: RunningJob;
  readonly stop: AbortController;
  readonly abort: AbortController;
  isReady: boolean;
  outcome?: Outcome;
}

const problemOf = ({ code, error }: Outcome, order: number): Problem => ({
  order,
  code: code ?? 'PREPARE_FAILED',
  message: error ?? 'could not be prepared',
});

/** All jobs of one run: prepared together, started at the same time, ended individually. */
export class RunJobs {
  readonly #deps: RunJobsDeps;
  readonly #accessGroups = new AccessGroups();
  readonly #start = Promise.withResolvers<number>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #jobs: ActiveJob[];
  #isPrepared = false;
  #isPaused = false;
  #isStarted = false;

  constructor(orders: readonly Job[], deps: RunJobsDeps) {
    this.#deps = deps;
    this.#jobs = orders.map((order, index) => this.#begin(order, index));
    this.#jobs.forEach((active, index) => {
      void active.running.outcome.then((outcome) => this.#settle(active, index, outcome));
    });
    if (orders.length === 0) this.#checkPrepared();
  }

  /** Resolves when every job has ended and was reported. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  start(at: number): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#start.resolve(at);
    const timer = setTimeout(() => this.#deps.report({ type: 'started', at: clockNow() }), at - clockNow());
    void this.ended.then(() => clearTimeout(timer));
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#forEachActive((running) => running.pause());
    this.#deps.report({ type: 'event', kind: 'paused', severity: 'info', message: 'sending has ceased' });
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#forEachActive((running) => running.resume());
    this.#deps.report({ type: 'event', kind: 'resumed', severity: 'info', message: 'sending goes on' });
  }

  changeLoad(order: number, change: LoadChange): void {
    const rejected = this.#try(order, (running) => running.changeLoad(change));
    const asked = Object.entries(change).map(([name, value]) => `${name} ${value}`);
    this.#deps.report(
      rejected === undefined
        ? { type: 'event', kind: 'loadChanged', severity: 'info', message: asked.join(', '), order }
        : { type: 'event', kind: 'loadRejected', severity: 'warning', message: rejected, order },
    );
  }

  command(order: number, command: PlaneCommand): void {
    const rejected = this.#try(order, (running) => running.command(command));
    if (command.isObserved === true) return;
    const { action, from, to, values = [] } = command;
    const range = from === undefined && to === undefined ? [] : [`${from ?? 'first'} to ${to ?? 'last'}`];
    const asked = [action, ...range, ...values.slice(0, 10)].join(' ');
    this.#deps.report(
      rejected === undefined
        ? { type: 'event', kind: 'commandApplied', severity: 'info', message: asked, order }
        : { type: 'event', kind: 'commandRejected', severity: 'warning', message: `${asked}: ${rejected}`, order },
    );
  }

  stop(mode: 'graceful' | 'abort', orders: readonly number[] = this.#jobs.keys().toArray()): void {
    for (const index of orders) {
      this.#jobs[index]?.stop.abort();
      if (mode === 'abort') this.#jobs[index]?.abort.abort();
    }
  }

  #begin(order: Job, index: number): ActiveJob {
    const stop = new AbortController();
    const abort = new AbortController();
    const running = new RunningJob(order, {
      ...this.#deps,
      accessGroups: this.#accessGroups,
      stop: stop.signal,
      abort: abort.signal,
      barrier: async () => {
        (this.#jobs[index] as ActiveJob).isReady = true;
        this.#checkPrepared();
        return (await this.#start.promise) + (order.startAfterSec ?? 0) * 1000;
      },
      onSummary: (summary) => this.#deps.report({ type: 'summary', order: index, summary }),
      onProgress: (message) =>
        this.#deps.report({ type: 'event', kind: 'progress', severity: 'info', message, order: index }),
    });
    return { order, running, stop, abort, isReady: false };
  }

  /** The run is prepared when all jobs are; if one has failed, the others are stopped. */
  #checkPrepared(): void {
    if (this.#isPrepared || !this.#jobs.every(({ isReady, outcome }) => isReady || outcome !== undefined)) return;
    this.#isPrepared = true;
    const problems = this.#jobs.flatMap(({ outcome }, index) =>
      outcome?.status === 'failed' ? [problemOf(outcome, index)] : [],
    );
    const hasEnded = this.#jobs.some(({ outcome }) => outcome !== undefined);
    if (problems.length > 0) this.#deps.report({ type: 'prepareFailed', problems });
    else if (!hasEnded) this.#deps.report({ type: 'prepared' });
    if (hasEnded) this.stop('abort');
    this.#jobs.forEach(({ outcome }, order) => {
      if (outcome !== undefined) this.#deps.report({ type: 'orderEnded', order, outcome });
    });
    this.#checkEnded();
  }

  #settle(active: ActiveJob, order: number, outcome: Outcome): void {
    active.outcome = outcome;
    if (this.#isPrepared) {
      this.#deps.report({ type: 'orderEnded', order, outcome });
      this.#checkEnded();
    } else this.#checkPrepared();
  }

  #checkEnded(): void {
    if (this.#jobs.every(({ outcome }) => outcome !== undefined)) this.#ended.resolve();
  }

  /** Ended jobs are skipped; servers only answer and have nothing to pause. */
  #forEachActive(action: (running: RunningJob) => void): void {
    this.#jobs.forEach(({ running, outcome, order: { config } }, order) => {
      if (outcome !== undefined) return;
      try {
        action(running);
      } catch (error) {
        // A job that is ending is skipped, too.
        if (!(error instanceof CannotPause) || (config as { role?: string }).role !== 'client') return;
        this.#deps.report({ type: 'event', kind: 'pauseRefused', severity: 'warning', message: error.message, order });
      }
    });
  }

  /** Why the action was rejected; undefined when it was applied. */
  #try(order: number, action: (running: RunningJob) => { readonly rejected?: string }): string | undefined {
    try {
      const running = this.#jobs[order]?.running;
      return running === undefined ? `there is no job ${order}` : action(running).rejected;
    } catch (error) {
      return (error as Error).message;
    }
  }
}
