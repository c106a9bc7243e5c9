import type { Compiled, Database, Executor, TransactionOptions } from './database.ts';

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

export interface Timings {
  /** Statements that read what is committed. */
  readonly read: DurationHistogram;
  /** Transactions, from the request to the commit, so that waiting counts. */
  readonly write: DurationHistogram;
}

export const createTimings = (): Timings => ({ read: new DurationHistogram(), write: new DurationHistogram() });

/** The same database, whose reads and transactions are timed. */
export const withTimings = (database: Database, { read, write }: Timings): Database => {
  const { run, transaction } = database;
  // The object itself stays: reads are shared by the identity of its snapshots.
  return Object.assign(database, {
    run: async (statement: Compiled, values: readonly unknown[]) => {
      const before = performance.now();
      try {
        return await run(statement, values);
      } finally {
        read.add((performance.now() - before) / 1000);
      }
    },
    transaction: async <T>(work: (tx: Executor) => Promise<T>, options?: TransactionOptions): Promise<T> => {
      const before = performance.now();
      try {
        return await transaction(work, options);
      } finally {
        write.add((performance.now() - before) / 1000);
      }
    },
  });
};
