import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepRuns } from '../../store/runs/run-removal.ts';
import { runs } from '../../store/runs/runs.ts';
import { createSamplePartitions, dropSamplePartitions } from '../../store/runs/sample-partitions.ts';
import { insertSamples, sampleKeys } from '../../store/runs/samples.ts';
import { openStore, type Store } from '../../store/store.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { storeRun } from '../testing/stored-run.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-partitions-'));
const dayMs = 86_400_000;
let store: Store;
beforeAll(async () => {
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
});
afterAll(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const isPostgres = () => store.database.engine === 'postgres';
const isoOf = (ms: number) => new Date(ms).toISOString();
const partitionOf = (ms: number) => `runSamples_${isoOf(ms).slice(0, 10).replaceAll('-', '_')}`;

/** A run that ended so many days ago, with three seconds of one agent. */
const oldRun = async (days: number, isPinned = false) => {
  const t0 = Date.now() - days * dayMs;
  const finishedAt = isoOf(t0 + 60_000);
  const { runId } = await storeRun(store, { t0, status: 7, run: { finishedAt, pinned: isPinned } });
  const rows = [1, 2, 3].map((seq) => ({
    ...{ runID: runId, agentID: 1, orderIndex: 0, fromSeq: seq, toSeq: seq },
    ...{ fromAt: t0 + seq * 1000, toAt: t0 + seq * 1000, isBlock: 0, data: Uint8Array.of(0) },
  }));
  await store.database.transaction((tx) => insertSamples(tx, rows));
  return { runId, t0 };
};

/** Where its samples are. */
const partitionsOf = async (runId: number) => {
  const sql = `SELECT DISTINCT tableoid::regclass::text AS name FROM "runSamples" WHERE "runID" = ${runId}`;
  return (await store.read.run({ name: '', sql }, [])).map(({ name }) => String(name).replaceAll('"', ''));
};
const seconds = async (runId: number) => (await sampleKeys(store.read, runId)).length;

describe('samples of old runs', () => {
  it('go with the partition of their day, but not where a run of that day is kept', async () => {
    const [old, alike, pinned, young] = [
      await oldRun(10),
      await oldRun(10.001),
      await oldRun(20, true),
      await oldRun(0.01),
    ];
    await createSamplePartitions(store.database, old.t0);
    await createSamplePartitions(store.database, pinned.t0);
    if (isPostgres()) {
      // What was there before its partition has moved there.
      expect(await partitionsOf(old.runId)).toEqual([partitionOf(old.t0)]);
      expect(await partitionsOf(pinned.runId)).toEqual([partitionOf(pinned.t0)]);
      const dropped = await dropSamplePartitions(store.database, isoOf(Date.now() - 5 * dayMs));
      expect(dropped).toContain(partitionOf(old.t0));
      expect(dropped).not.toContain(partitionOf(pinned.t0));
      expect(await seconds(old.runId)).toBe(0);
    }
    expect(await sweepRuns(store, 5)).toBe(2);
    for (const { runId } of [old, alike]) expect(await runs.find(store.read, runId)).toBeUndefined();
    for (const { runId } of [pinned, young]) expect(await seconds(runId)).toBe(3);
  });

  it('are kept apart by day from the start on', async () => {
    if (!isPostgres()) return expect(await dropSamplePartitions(store.database, isoOf(Date.now()))).toEqual([]);
    const { runId, t0 } = await oldRun(0);
    expect(await partitionsOf(runId)).toEqual([partitionOf(t0)]);
    const again = store.database.transaction((tx) =>
      insertSamples(tx, [
        {
          ...{ runID: runId, agentID: 1, orderIndex: 0, fromSeq: 1, toSeq: 1 },
          ...{ fromAt: t0 + 1000, toAt: t0 + 1000, isBlock: 0, data: Uint8Array.of(0) },
        },
      ]),
    );
    await expect(again).rejects.toMatchObject({ name: 'UniqueViolation' });
  });
});
