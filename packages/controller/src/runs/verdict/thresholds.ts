import type { Threshold, ThresholdResult } from '@rushhour/contract';

export interface MetricQuery {
  readonly runId: number;
  readonly metric: string;
  readonly aggregation: Threshold['aggregation'];
  readonly scope: NonNullable<Threshold['scope']>;
  readonly window: NonNullable<Threshold['window']>;
}

/** Current values of the run's metrics. */
export interface MetricReader {
  /** Undefined without data. */
  value(query: MetricQuery): number | undefined | Promise<number | undefined>;
}

const comparisons: Record<Threshold['operator'], (actual: number, value: number) => boolean> = {
  '<': (actual, value) => actual < value,
  '<=': (actual, value) => actual <= value,
  '>': (actual, value) => actual > value,
  '>=': (actual, value) => actual >= value,
  '==': (actual, value) => actual === value,
  '!=': (actual, value) => actual !== value,
};

export const holds = ({ operator, value }: Threshold, actual: number) => comparisons[operator](actual, value);

const queryOf = (runId: number, threshold: Threshold): MetricQuery => ({
  runId,
  metric: threshold.metric,
  aggregation: threshold.aggregation,
  scope: threshold.scope ?? {},
  window: threshold.window ?? 'steady',
});

/** A threshold that failed during the run. */
export interface Breach {
  /** Index in the list of thresholds. */
  readonly index: number;
  readonly actual: number;
  readonly at: string;
}

/** Evaluates each threshold. One that failed during the run stays failed. */
export const evaluate = (
  runId: number,
  thresholds: readonly Threshold[],
  reader: MetricReader,
  { breaches, now }: { breaches: readonly Breach[]; now: string },
): Promise<ThresholdResult[]> =>
  Promise.all(
    thresholds.map(async (threshold, index): Promise<ThresholdResult> => {
      const breach = breaches.find((candidate) => candidate.index === index);
      if (breach) return { ...threshold, actual: breach.actual, outcome: 'failed', breachedAt: breach.at };
      const actual = await reader.value(queryOf(runId, threshold));
      if (actual === undefined) return { ...threshold, actual: null, outcome: 'noData', breachedAt: null };
      const isHeld = holds(threshold, actual);
      return { ...threshold, actual, outcome: isHeld ? 'passed' : 'failed', breachedAt: isHeld ? null : now };
    }),
  );

/** Failed thresholds that abort the run, `elapsedSec` after the common start. */
export const breachesOf = async (
  runId: number,
  thresholds: readonly Threshold[],
  reader: MetricReader,
  { elapsedSec, now }: { elapsedSec: number; now: string },
): Promise<Breach[]> => {
  const found = await Promise.all(
    thresholds.map(async (threshold, index) => {
      if (threshold.abortOnFail !== true || elapsedSec < (threshold.delayAbortSec ?? 0)) return undefined;
      const actual = await reader.value(queryOf(runId, threshold));
      return actual === undefined || holds(threshold, actual) ? undefined : { index, actual, at: now };
    }),
  );
  return found.filter((breach) => breach !== undefined);
};
