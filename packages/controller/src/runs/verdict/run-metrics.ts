import type { RunSummary } from '@rushhour/contract';
import type { MetricReader } from './thresholds.ts';

export type MissingSeconds = ReadonlyMap<number, number>;

/** The measurements that runs depend on. */
export interface RunMetrics extends MetricReader {
  /** Seconds of ended jobs that are not stored yet, by agent. */
  missingSeconds(runId: number): Promise<MissingSeconds>;
  /** The newest second of any agent. */
  progressOf(runId: number): Promise<{ readonly newest: number }>;
  /** Results of the run by configuration entry and side. */
  summaryOf(runId: number): Promise<RunSummary>;
}
