import { describeHost, engines, type Outcome, RunningJob } from '@rushhour/agent';
import { type Duration, Histogram, type Job, type Summary } from '@rushhour/protocol';

export interface JobOptions {
  readonly engine: string;
  readonly config: unknown;
  readonly duration?: Partial<Duration>;
  readonly cpuCores?: number;
  readonly allowedTargets?: string[];
  readonly claims?: string[];
  readonly stack?: Job['stack'];
  /** Keys of what is encrypted are among the records. */
  readonly writesKeys?: boolean;
  /** In a process of its own: summaries are reported from the start, not from the first command on. */
  readonly isWatched?: boolean;
}

/** The results of a job over all seconds and targets. */
export interface Totals {
  readonly outcome: Outcome;
  readonly summaries: readonly Summary[];
  counter(name: string): number;
  /** The last value, summed over targets. */
  gauge(name: string): number;
  histogram(name: string): Histogram;
}

/** A counter over all seconds and targets. */
export const sumOf = (summaries: readonly Summary[], name: string): number =>
  summaries.flatMap(({ series }) => series).reduce((sum, { counters }) => sum + (counters[name] ?? 0), 0);

export const totalsOf = (outcome: Outcome, summaries: readonly Summary[]): Totals => {
  const series = summaries.flatMap((summary) => summary.series);
  return {
    outcome,
    summaries,
    counter: (name) => sumOf(summaries, name),
    gauge: (name) => (summaries.at(-1)?.series ?? []).reduce((sum, { gauges }) => sum + (gauges[name] ?? 0), 0),
    histogram: (name) => {
      const total = new Histogram();
      for (const { histograms } of series) {
        if (histograms[name] !== undefined) total.merge(Histogram.fromBase64(histograms[name]));
      }
      return total;
    },
  };
};

export interface Started {
  readonly running: RunningJob;
  /** Resolves when the engine is prepared and started. */
  readonly started: Promise<void>;
  readonly totals: Promise<Totals>;
  stop(): Promise<Totals>;
}

const tenSeconds: Duration = { mode: 'time', seconds: 10, count: 1, rampUpSec: 0, warmUpSec: 0, rampDownSec: 0 };

/** `watch` gets every summary as it comes. */
export const startJob = (options: JobOptions, watch: (summary: Summary) => void = () => {}): Started => {
  const stop = new AbortController();
  const summaries: Summary[] = [];
  const { promise: started, resolve: hasStarted } = Promise.withResolvers<void>();
  const job: Job = {
    runId: 1,
    epoch: 0,
    engine: options.engine,
    config: options.config,
    duration: { ...tenSeconds, ...options.duration },
    cpuCores: options.cpuCores ?? 1,
    ...(options.allowedTargets && { allowedTargets: options.allowedTargets }),
    ...(options.claims && { claims: options.claims }),
    ...(options.stack && { stack: options.stack }),
  };
  const running = new RunningJob(job, {
    engines,
    host: { ...describeHost(), writesKeys: options.writesKeys ?? false },
    barrier: async () => {
      hasStarted();
      // At once: the system clock may have been set since the clock of runs began.
      return 0;
    },
    stop: stop.signal,
    onSummary: (summary) => {
      summaries.push(summary);
      watch(summary);
    },
  });
  const totals = running.outcome.then((outcome) => totalsOf(outcome, summaries));
  const startedOrFailed = Promise.race([started, running.outcome.then(({ error }) => failWith(error))]);
  // Callers may ignore the start; the outcome has the failure, too.
  startedOrFailed.catch(() => {});
  return {
    running,
    started: startedOrFailed,
    totals,
    stop() {
      stop.abort();
      return totals;
    },
  };
};

const failWith = (error: string | undefined): void => {
  if (error !== undefined) throw new Error(error);
};

/** Runs a job to its planned end. */
export const runJob = (options: JobOptions): Promise<Totals> => startJob(options).totals;

/** Starts a server and resolves once it listens. */
export const startServer = async (
  engine: string,
  config: object,
  options: Pick<JobOptions, 'writesKeys'> = {},
): Promise<Started> => {
  const job = { engine, config: { role: 'server', ...config }, duration: { mode: 'continuous' } } as const;
  const server = startJob({ ...job, ...options });
  await server.started;
  return server;
};
