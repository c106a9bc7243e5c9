import { clockNow } from '../../clock.ts';
import type { Database, Executor } from '../engine/database.ts';

const dayMs = 86_400_000;
const lockKey = 7_283_314;
/** Partitions are made so many days before they are needed. */
const daysAhead = 2;
/** How far samples may lie outside of the time of their run. */
const slackMs = 3_600_000;

const run = (executor: Executor, sql: string, values: readonly unknown[] = []) =>
  executor.run({ name: '', sql }, values);

const nameOf = (day: number) => `runSamples_${new Date(day * dayMs).toISOString().slice(0, 10).replaceAll('-', '_')}`;

/** Days with a partition of their own, since 1970. */
const partitionedDays = async (read: Executor): Promise<number[]> => {
  const rows = await run(
    read,
    `SELECT relname AS name FROM pg_class JOIN pg_inherits ON inhrelid = oid
     WHERE inhparent = '"runSamples"'::regclass AND relname ~ '_\\d{4}_\\d\\d_\\d\\d$'`,
  );
  return rows.map(({ name }) => Date.parse(`${String(name).slice(-10).replaceAll('_', '-')}T00:00:00Z`) / dayMs);
};

/** Others wait for the lock on the table: it is not waited for long, and tried again later. */
const change = <T>(database: Database, work: (tx: Executor) => Promise<T>) =>
  database.transaction(async (tx) => {
    await run(tx, `SET LOCAL lock_timeout = '3s'`);
    await run(tx, `SELECT pg_advisory_xact_lock(${lockKey})`);
    return work(tx);
  });

/** Samples of that day which came before it move into it. */
const create = async (tx: Executor, day: number) => {
  const [name, from, to] = [nameOf(day), day * dayMs, (day + 1) * dayMs];
  await run(tx, `CREATE TABLE "${name}" (LIKE "runSamples")`);
  await run(
    tx,
    `WITH moved AS (DELETE FROM "runSamples_other" WHERE "fromAt" >= ${from} AND "fromAt" < ${to} RETURNING *)
     INSERT INTO "${name}" SELECT * FROM moved`,
  );
  await run(tx, `ALTER TABLE "runSamples" ATTACH PARTITION "${name}" FOR VALUES FROM (${from}) TO (${to})`);
};

/** Makes the partitions of today and of the next days. */
export const createSamplePartitions = async (database: Database, now = clockNow()): Promise<void> => {
  if (database.engine !== 'postgres') return;
  const today = Math.floor(now / dayMs);
  const wanted = Array.from({ length: daysAhead + 1 }, (_, i) => today + i);
  const known = await partitionedDays(database);
  if (wanted.every((day) => known.includes(day))) return;
  await change(database, async (tx) => {
    const present = await partitionedDays(tx);
    for (const day of wanted) if (!present.includes(day)) await create(tx, day);
  });
};

/** Whether a run that is kept has samples of that day. */
const isKept = async (tx: Executor, day: number, before: string): Promise<boolean> => {
  const rows = await run(
    tx,
    `SELECT 1 FROM "runs" WHERE "t0" < $1 AND ("finishedAt" IS NULL OR "finishedAt" > $2)
     AND ("status" < 7 OR "pinned" = 1 OR "finishedAt" >= $3) LIMIT 1`,
    [(day + 1) * dayMs + slackMs, new Date(day * dayMs - slackMs).toISOString(), before],
  );
  return rows.length > 0;
};

/**
 * Drops the partitions of days of which no run is kept: runs that ended before a time and are not pinned lose their
 * samples, before they are deleted themselves. Returns the names of the partitions.
 */
export const dropSamplePartitions = async (database: Database, before: string): Promise<string[]> => {
  if (database.engine !== 'postgres') return [];
  const lastDay = Math.floor(Date.parse(before) / dayMs);
  const old = (await partitionedDays(database)).filter((day) => day < lastDay);
  if (old.length === 0) return [];
  return change(database, async (tx) => {
    const dropped: string[] = [];
    for (const day of old) {
      if (await isKept(tx, day, before)) continue;
      await run(tx, `DROP TABLE IF EXISTS "${nameOf(day)}"`);
      dropped.push(nameOf(day));
    }
    return dropped;
  });
};
