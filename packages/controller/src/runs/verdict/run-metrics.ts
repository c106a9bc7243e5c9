import type { RunSummary } from '@rushhour/contract';
import type { MetricReader } from './thresholds.ts';

/** What runs need to know of their measurements. */
export interface RunMetrics extends MetricReader {
  /** Every summary up to the last one of each order that has ended is stored. */
  samplesComplete(runId: number): boolean | Promise<boolean>;
  /** What the run came to, by configuration entry and side. */
  summaryOf(runId: number): Promise<RunSummary>;
}
