import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Histogram } from '@rushhour/protocol';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMutex } from '../../concurrency/mutex.ts';
import type { Database } from '../../store/engine/database.ts';
import { everyAgent, sampleKeys } from '../../store/runs/samples.ts';
import { openStore, type Store } from '../../store/store.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { Ingest } from '../ingest/ingest.ts';
import type { OpenRun } from '../ingest/open-run.ts';
import { createOpenRuns } from '../ingest/open-runs.ts';
import { createMetrics } from '../metrics.ts';
import { readValue } from '../read/value.ts';
import { createTestGateway } from '../testing/gateway.ts';
import { jobOf, setRun, storeRun } from '../testing/stored-run.ts';
import { createRandom, histogramOf, summaryOf } from '../testing/summaries.ts';
import { compact, rollUp } from './upkeep.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-metrics-'));
const log = pino({ level: 'silent' });
let store: Store;

beforeAll(async () => {
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
});
afterAll(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The parts behind the metrics, without the clock that drives them. */
const createParts = () => {
  const gateway = createTestGateway();
  const runs = createOpenRuns(store.read);
  const exclusively = createMutex();
  const ingest = new Ingest({ store, gateway: gateway.gateway, log, runs, exclusively, onStored: () => {} });
  return { gateway, runs, exclusively, ingest };
};

const random = createRandom(3);
const latencies = Array.from({ length: 400 }, () => histogramOf(random, 20, 500, 0.7));
const second = (seq: number, t0: number) =>
  summaryOf({
    ...{ seq, t0, counters: { 'http.requests': seq } },
    histograms: { 'http.latency': latencies[seq - 1] as Histogram },
  });
const secondsOf = (from: number, to: number, t0: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => second(from + i, t0));
const p99Of = (from: number, to: number) =>
  latencies
    .slice(from - 1, to)
    .reduce((total, one) => total.merge(one), new Histogram())
    .quantile(0.99);
const p99 = (run: OpenRun) =>
  readValue(store.read, run, {
    ...{ runId: run.facts.runId, metric: 'http.latency', aggregation: 'p99', scope: {}, window: 'steady' },
  });
const mergedRows = async (runId: number) =>
  (await sampleKeys(store.read, runId)).filter(({ agentID }) => agentID === everyAgent);
const ownRows = async (runId: number) =>
  (await sampleKeys(store.read, runId)).filter(({ agentID }) => agentID !== everyAgent);

describe('minutes', () => {
  it('are stored merged a while after they ended, and read from there', async () => {
    const { gateway, runs, exclusively, ingest } = createParts();
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 200_000 });
    for (const [from, to] of [
      [1, 50],
      [51, 130],
      [131, 180],
    ] as const) {
      gateway.summaries(1, { runId }, secondsOf(from, to, t0));
      await ingest.flush();
      const run = (await runs.open(runId)) as OpenRun;
      // Before and after a minute moves from memory to disk the answer is that of all seconds so far.
      expect(await p99(run)).toBe(p99Of(1, to));
      await rollUp(store, run, { all: false, now: t0 + to * 1000, exclusively });
      expect(await p99(run)).toBe(p99Of(1, to));
    }
    expect((await mergedRows(runId)).map(({ fromSeq, toSeq }) => [fromSeq, toSeq])).toEqual([
      [1, 60],
      [61, 120],
    ]);
    await ingest.close();
  });

  it('are opened again by seconds that come late', async () => {
    const { gateway, runs, exclusively, ingest } = createParts();
    const { runId, t0 } = await storeRun(store, {
      ...{ t0: Date.now() - 300_000, agents: { 1: [jobOf()], 2: [jobOf()] } },
    });
    gateway.summaries(1, { runId }, secondsOf(1, 180, t0));
    gateway.summaries(2, { runId }, secondsOf(1, 70, t0));
    await ingest.flush();
    const run = (await runs.open(runId)) as OpenRun;
    await rollUp(store, run, { all: true, now: 0, exclusively });
    await p99(run);
    expect(await mergedRows(runId)).toHaveLength(3);
    gateway.summaries(2, { runId }, secondsOf(71, 100, t0));
    await ingest.flush();
    // The second minute is in memory again, and only there.
    expect((await mergedRows(runId)).map(({ fromSeq }) => fromSeq)).toEqual([1, 121]);
    const sumOf = () =>
      readValue(store.read, run, {
        ...{ runId, metric: 'http.requests', aggregation: 'sum', scope: {}, window: 'all' },
      });
    const expected = (180 * 181) / 2 + (100 * 101) / 2;
    expect(await sumOf()).toBe(expected);
    await rollUp(store, run, { all: true, now: 0, exclusively });
    expect(await mergedRows(runId)).toHaveLength(3);
    expect(await sumOf()).toBe(expected);
    runs.forget(runId);
    const again = (await runs.open(runId)) as OpenRun;
    expect(
      await readValue(store.read, again, {
        ...{ runId, metric: 'http.requests', aggregation: 'sum', scope: {}, window: 'all' },
      }),
    ).toBe(expected);
    await ingest.close();
  });

  it('become one compressed row a job, whole ones while the run goes on', async () => {
    const { gateway, runs, exclusively, ingest } = createParts();
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 200_000 });
    for (let seq = 1; seq <= 130; seq += 1) {
      gateway.summaries(1, { runId }, [second(seq, t0)]);
      await ingest.flush();
    }
    const run = (await runs.open(runId)) as OpenRun;
    expect(await ownRows(runId)).toHaveLength(130);
    await compact(store, run, { all: false, now: Date.now(), exclusively });
    expect((await ownRows(runId)).map(({ fromSeq, toSeq, isBlock }) => [fromSeq, toSeq, isBlock])).toEqual([
      [1, 60, 1],
      [61, 120, 1],
      ...Array.from({ length: 10 }, (_, i) => [121 + i, 121 + i, 0]),
    ]);
    await compact(store, run, { all: true, now: Date.now(), exclusively });
    expect(await ownRows(runId)).toHaveLength(3);
    expect(await p99(run)).toBe(p99Of(1, 130));
    await ingest.close();
  });

  it('are whole or untouched when the controller dies in between', async () => {
    const { gateway, runs, exclusively, ingest } = createParts();
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 200_000 });
    for (let seq = 1; seq <= 60; seq += 1) {
      gateway.summaries(1, { runId }, [second(seq, t0)]);
      await ingest.flush();
    }
    const run = (await runs.open(runId)) as OpenRun;
    const { transaction } = store.database;
    const dying: Database['transaction'] = (work) =>
      transaction(async (tx) => {
        await work(tx);
        throw new Error('dead');
      });
    store.database.transaction = dying;
    try {
      await expect(compact(store, run, { all: true, now: Date.now(), exclusively })).rejects.toThrow('dead');
      await expect(rollUp(store, run, { all: true, now: Date.now(), exclusively })).rejects.toThrow('dead');
    } finally {
      store.database.transaction = transaction;
    }
    expect(await sampleKeys(store.read, runId)).toHaveLength(60);
    runs.forget(runId);
    expect(await p99((await runs.open(runId)) as OpenRun)).toBe(p99Of(1, 60));
    await ingest.close();
  });

  it('that a crash left undone are done at the next start', async () => {
    const { gateway, ingest } = createParts();
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 200_000 });
    gateway.summaries(1, { runId }, secondsOf(1, 90, t0));
    await ingest.close();
    await setRun(store, runId, { status: 7 });
    const metrics = createMetrics({ store, gateway: createTestGateway().gateway, log });
    await metrics.close();
    expect((await sampleKeys(store.read, runId)).map(({ agentID, isBlock }) => [agentID, isBlock])).toEqual([
      [everyAgent, 1],
      [everyAgent, 1],
      [1, 1],
      [1, 1],
    ]);
  });
});

describe('two controllers with one database', () => {
  it('leave a run that is under way to the one that takes in its seconds', async () => {
    const [one, other] = [createParts(), createParts()];
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 200_000 });
    one.gateway.summaries(1, { runId }, secondsOf(1, 30, t0));
    await one.ingest.flush();
    const own = (await one.runs.open(runId)) as OpenRun;
    const foreign = (await other.runs.open(runId)) as OpenRun;
    expect([own.isOurs, foreign.isOurs]).toEqual([true, false]);
    expect(await p99(foreign)).toBe(p99Of(1, 30));
    // Both store the same minute: one of them comes too late, and that is no fault.
    await rollUp(store, own, { all: true, now: 0, exclusively: one.exclusively });
    await rollUp(store, foreign, { all: true, now: 0, exclusively: other.exclusively });
    expect(await mergedRows(runId)).toHaveLength(1);
    await one.ingest.close();
    await other.ingest.close();
  });
});
