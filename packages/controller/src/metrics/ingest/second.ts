import type { Phase } from '@rushhour/protocol';

/** One second of one job, with numbers in place of names. */
export interface Second {
  readonly seq: number;
  /** Milliseconds since 1970, whole. */
  readonly at: number;
  readonly spanMs: number;
  readonly phase: Phase;
  readonly parts: readonly Part[];
}

/** What was done towards one target. Metrics and targets are numbers of the run's name book. */
export interface Part {
  readonly target: number;
  /** Counters and gauges; the number of a metric says which. */
  readonly scalars: Map<number, number>;
  readonly histograms: Map<number, Uint8Array>;
}
