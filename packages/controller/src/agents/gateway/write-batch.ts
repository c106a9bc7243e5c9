import { lockAudit } from '../../store/engine/audit.ts';
import type { Database, Executor } from '../../store/engine/database.ts';

type Work = (tx: Executor) => Promise<unknown>;

interface Job {
  work: Work;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Writes what agents report. What is asked for while a transaction is under way goes together into the next one:
 * a thousand agents that come back at once cost a few transactions and not a thousand.
 */
export const createWriteBatch = (database: Database) => {
  let waiting: Job[] = [];
  let running: Promise<void> | undefined;

  const writeAll = (jobs: readonly Job[]) =>
    database.transaction(
      async (tx) => {
        // In turn with the changes people make, so that the two never wait for each other's rows.
        await lockAudit(tx);
        for (const { work } of jobs) await work(tx);
      },
      { sharesCommit: true },
    );
  const runAll = async () => {
    while (waiting.length > 0) {
      const jobs = waiting;
      waiting = [];
      try {
        await writeAll(jobs);
        for (const { resolve } of jobs) resolve();
      } catch (error) {
        // What one agent reports must not keep the others' reports from being written.
        if (jobs.length === 1) jobs[0]?.reject(error);
        else for (const job of jobs) await writeAll([job]).then(job.resolve, job.reject);
      }
    }
    running = undefined;
  };

  return {
    /** Resolves when it is on disk. */
    write: (work: Work): Promise<void> =>
      new Promise((resolve, reject) => {
        waiting.push({ work, resolve, reject });
        running ??= Promise.resolve().then(runAll);
      }),
    /** Resolves when nothing is left to write. */
    settled: async () => {
      await running;
    },
  };
};

export type WriteBatch = ReturnType<typeof createWriteBatch>;
