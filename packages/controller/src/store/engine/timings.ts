import type { Database, Executor } from './database.ts';

/** Upper bounds of the buckets. */
export const durationBucketsSec = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10];

/** Durations, recorded cheaply and added up when they are read. */
export class DurationHistogram {
  readonly counts = new Float64Array(durationBucketsSec.length + 1);
  sumSec = 0;

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < durationBucketsSec.length && seconds > (durationBucketsSec[bucket] as number)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sumSec += seconds;
  }
}

/** The same database, whose transactions are timed: from the request to the commit, so that waiting counts. */
export const withTimings = (database: Database, writes: DurationHistogram): Database => {
  const { transaction } = database;
  // The object itself stays: reads are shared by the identity of its snapshots.
  return Object.assign(database, {
    transaction: async <T>(work: (tx: Executor) => Promise<T>): Promise<T> => {
      const before = performance.now();
      try {
        return await transaction(work);
      } finally {
        writes.add((performance.now() - before) / 1000);
      }
    },
  });
};
