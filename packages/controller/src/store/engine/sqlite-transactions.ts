import type { Database, Executor } from './database.ts';

interface Connection {
  readonly db: { readonly isTransaction: boolean };
  readonly run: Executor['run'];
  exec(sql: string): void;
}

interface Waiting {
  readonly sharesCommit: boolean;
  work(tx: Executor): Promise<unknown>;
  resolve(result: never): void;
  reject(error: unknown): void;
}

/** More would let the first ones wait for long. */
const maxTogether = 64;
/** Where one was written just before, more are on their way: they are waited for, unless one comes that must not share. */
const gatherMs = 10;
const burstMs = 100;

/**
 * Transactions of the one connection that writes, in the order in which they are asked for. Writing to the disk takes longer
 * than most of them: those that permit it and wait at the same time are written together. Each still succeeds or fails by
 * itself, and none is over before it is on disk.
 */
export const createTransactions = (writer: Connection, committed: () => void) => {
  const waiting: Waiting[] = [];
  let running: Promise<void> | undefined;
  let sharedAt = Number.NEGATIVE_INFINITY;
  let endGathering = () => {};
  const tx: Executor = { engine: 'sqlite', run: writer.run };

  /** Those at the front that are written together. */
  const takeNext = (): Waiting[] => {
    const alone = waiting.findIndex(({ sharesCommit }) => !sharesCommit);
    return waiting.splice(0, Math.max(1, Math.min(alone === -1 ? waiting.length : alone, maxTogether)));
  };

  const gather = async () => {
    const isBurst = performance.now() - sharedAt < burstMs;
    if (!isBurst || waiting.some(({ sharesCommit }) => !sharesCommit)) return;
    await new Promise<void>((resolve) => {
      endGathering = resolve;
      setTimeout(resolve, gatherMs);
    });
  };

  const runAll = async () => {
    while (waiting.length > 0) {
      await gather();
      const taken = takeNext();
      await runTogether({ ...writer, tx, committed }, taken);
      if (taken[0]?.sharesCommit) sharedAt = performance.now();
    }
    running = undefined;
  };

  const transaction: Database['transaction'] = (work, { sharesCommit = false } = {}) =>
    new Promise((resolve, reject) => {
      waiting.push({ work, sharesCommit, resolve: resolve as (result: unknown) => void, reject });
      if (!sharesCommit) endGathering();
      running ??= Promise.resolve().then(runAll);
    });

  return { transaction, idle: async () => running };
};

type Parts = Connection & { readonly tx: Executor; committed(): void };

const runTogether = async (parts: Parts, taken: readonly Waiting[]): Promise<void> => {
  const { db, exec, committed } = parts;
  let outcomes: (() => void)[] = [];
  try {
    exec('BEGIN IMMEDIATE');
    for (const one of taken) outcomes.push(await runOne(parts, one, taken.length > 1));
    exec('COMMIT');
    committed();
  } catch (error) {
    if (db.isTransaction) exec('ROLLBACK');
    outcomes = taken.map(
      ({ reject }) =>
        () =>
          reject(error),
    );
  }
  for (const settle of outcomes) settle();
};

/** Answers what its caller gets once all is on disk. Throws what ends all of them. */
const runOne = async ({ db, exec, tx }: Parts, { work, resolve, reject }: Waiting, isOneOfMany: boolean) => {
  if (isOneOfMany) exec('SAVEPOINT one');
  try {
    const result = await work(tx);
    if (isOneOfMany) exec('RELEASE one');
    return () => resolve(result as never);
  } catch (error) {
    // The database itself ends the transaction when the disk is full.
    if (!isOneOfMany || !db.isTransaction) throw error;
    exec('ROLLBACK TO one');
    exec('RELEASE one');
    return () => reject(error);
  }
};
