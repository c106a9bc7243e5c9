import type { RunSummary } from '@rushhour/contract';
import type { MetricReader } from './thresholds.ts';

/** The measurements that runs depend on. */
export interface RunMetrics extends MetricReader {
  /** True when every summary of each ended job is stored. */
  samplesComplete(runId: number): boolean | Promise<boolean>;
  /** The newest second of any agent. */
  progressOf(runId: number): Promise<{ readonly newest: number }>;
  /** Results of the run by configuration entry and side. */
  summaryOf(runId: number): Promise<RunSummary>;
}
