import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobOutcome } from '@rushhour/protocol';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { StorageUnavailable } from '../../store/engine/database.ts';
import { runRecordsOf } from '../../store/runs/run-attempts.ts';
import { runRowPage, runTableStates } from '../../store/runs/run-rows.ts';
import { sampleKeys } from '../../store/runs/samples.ts';
import { openStore, type Store } from '../../store/store.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { createTestGateway, type TestGateway } from '../testing/gateway.ts';
import { jobOf, setRun, storeRun } from '../testing/stored-run.ts';
import { summaryOf } from '../testing/summaries.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-metrics-'));
const log = pino({ level: 'silent' });
let store: Store;
let gateway: TestGateway;
let metrics: Metrics;

beforeAll(async () => {
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
});
afterAll(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});
beforeEach(() => {
  gateway = createTestGateway();
  metrics = createMetrics({ store, gateway: gateway.gateway, log });
});
afterEach(() => metrics.close());

/** The controller is gone and there again; agents stay. */
const restart = async () => {
  await metrics.close();
  gateway = createTestGateway();
  metrics = createMetrics({ store, gateway: gateway.gateway, log });
};

const seconds = (t0: number, ...seqs: number[]) =>
  seqs.map((seq) => summaryOf({ seq, t0, counters: { 'http.requests': 10 * seq } }));
const requestsOf = async (runId: number) =>
  (await metrics.series(runId, { metrics: ['http.requests'], agg: 'sum' })).series[0]?.values;

describe('taking in measurements', () => {
  it('acknowledges what is on disk, once for everything that came together', async () => {
    const { runId, t0 } = await storeRun(store, { agents: { 1: [jobOf(), jobOf()], 2: [jobOf()] } });
    for (const [agentId, order] of [
      [1, 0],
      [1, 1],
      [2, 0],
    ] as const) {
      gateway.summaries(agentId, { runId, order }, seconds(t0, 1));
      gateway.summaries(agentId, { runId, order }, seconds(t0, 2, 3));
    }
    expect(gateway.sent).toEqual([]);
    await metrics.flush();
    expect(gateway.sent).toHaveLength(3);
    expect([gateway.acknowledged(1, runId), gateway.acknowledged(1, runId, 1), gateway.acknowledged(2, runId)]).toEqual(
      [3, 3, 3],
    );
    const keys = await sampleKeys(store.read, runId);
    expect(keys.map(({ agentID, orderIndex, fromSeq, toSeq }) => [agentID, orderIndex, fromSeq, toSeq])).toEqual([
      [1, 0, 1, 3],
      [1, 1, 1, 3],
      [2, 0, 1, 3],
    ]);
  });

  it('keeps records of single attempts once, however often they are sent', async () => {
    const { runId, t0 } = await storeRun(store);
    const reported = seconds(t0, 1, 2).map((summary) => ({
      ...summary,
      records: [{ attempt: summary.seq }, { n: 'é' }],
    }));
    gateway.summaries(1, { runId }, reported);
    await metrics.flush();
    gateway.summaries(1, { runId }, reported);
    await metrics.flush();
    await restart();
    gateway.summaries(1, { runId }, [...reported, ...seconds(t0, 3)]);
    await metrics.flush();
    expect(await runRecordsOf(store.read, runId)).toEqual([
      { runID: runId, agentID: 1, orderIndex: 0, seq: 1, records: [{ attempt: 1 }, { n: 'é' }] },
      { runID: runId, agentID: 1, orderIndex: 0, seq: 2, records: [{ attempt: 2 }, { n: 'é' }] },
    ]);
  });

  it('keeps the newest state of every row of a table, by agent and job', async () => {
    const { runId, t0 } = await storeRun(store, { agents: { 1: [jobOf()], 2: [jobOf()] } });
    const rows = (...given: object[]) => ({ side: 'rows', table: 'sessions', rows: given });
    const row = (index: number, state: string, ip: string) => ({ index, state, cells: { ip, mtu: 1492 } });
    const [first, second] = seconds(t0, 1, 2);
    const reported = [
      { ...first, records: [rows(row(0, 'connecting', ''), row(1, 'up', '10.0.0.2')), rows(row(0, 'up', '10.0.0.1'))] },
      { ...second, records: [rows(row(1, 'down', '10.0.0.2'))] },
    ] as Parameters<typeof gateway.summaries>[2];
    gateway.summaries(1, { runId }, reported);
    gateway.summaries(2, { runId }, [{ ...first, records: [rows(row(0, 'up', '10.9.0.1'))] }] as typeof reported);
    await metrics.flush();
    gateway.summaries(1, { runId }, reported);
    await metrics.flush();
    const all = {
      runID: runId,
      tableName: 'sessions',
      agentID: 0,
      state: '',
      search: '',
      limit: 10,
      offset: 0,
    } as const;
    const { rows: found, total } = await runRowPage(store.read, all);
    expect([
      total,
      found.map(({ agentID, rowIndex, state, cells }) => [agentID, rowIndex, state, cells['ip']]),
    ]).toEqual([
      3,
      [
        [1, 0, 'up', '10.0.0.1'],
        [1, 1, 'down', '10.0.0.2'],
        [2, 0, 'up', '10.9.0.1'],
      ],
    ]);
    expect((await runRowPage(store.read, { ...all, state: 'up', search: '10.9' })).total).toBe(1);
    expect((await runRowPage(store.read, { ...all, agentID: 1, limit: 1, offset: 1 })).rows).toHaveLength(1);
    expect(await runTableStates(store.read, runId)).toEqual([
      { name: 'sessions', rows: 3, states: { up: 2, down: 1 } },
    ]);
    expect(await runRecordsOf(store.read, runId)).toEqual([]);
  });

  it('finds the rows of one neighbour by their cells', async () => {
    const { runId, t0 } = await storeRun(store);
    const route = (index: number, neighbour: string, protocol: string) => ({
      ...{ index, state: 'received' },
      cells: { router: '10.0.0.9', neighbour, protocol, route: '10.0.0.1/32' },
    });
    const rows = [route(0, '10.0.0.1', 'bgp'), route(1, '10.0.0.2', 'bgp'), route(2, '10.0.0.1', 'ospf')];
    const [first] = seconds(t0, 1);
    const record = { side: 'rows', table: 'routes', rows };
    gateway.summaries(1, { runId }, [{ ...first, records: [record] }] as Parameters<typeof gateway.summaries>[2]);
    await metrics.flush();
    const all = { runID: runId, tableName: 'routes', agentID: 0, state: '', search: '', limit: 10, offset: 0 } as const;
    const found = await runRowPage(store.read, { ...all, router: '10.0.0.9', neighbour: '10.0.0.1', protocol: 'bgp' });
    expect([found.total, found.rows.map(({ rowIndex }) => rowIndex)]).toEqual([1, [0]]);
    expect((await runRowPage(store.read, { ...all, neighbour: '10.0.0.1' })).total).toBe(2);
    expect((await runRowPage(store.read, { ...all, neighbour: '10.0.0' })).total).toBe(0);
  });

  it('does so by itself, within a short time', { retry: 2 }, async () => {
    const { runId, t0 } = await storeRun(store);
    gateway.summaries(1, { runId }, seconds(t0, 1));
    const startedAt = performance.now();
    while (gateway.sent.length === 0 && performance.now() - startedAt < 2000) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(gateway.acknowledged(1, runId)).toBe(1);
  });

  it('refuses what is of no second of the run: before its start, after its deadline or after its end', async () => {
    const t0 = Date.now() - 20_000;
    const { runId } = await storeRun(store, { t0, run: { deadlineAt: new Date(t0 + 10_000).toISOString() } });
    const [late, early] = [summaryOf({ seq: 5, t0: t0 + 15_000 }), { ...summaryOf({ seq: 6, t0 }), at: t0 - 90_000 }];
    gateway.summaries(1, { runId }, [...seconds(t0, 1, 2), late, early]);
    await metrics.flush();
    expect(await requestsOf(runId)).toEqual([10, 20]);
    await setRun(store, runId, { deadlineAt: null, finishedAt: new Date(t0 + 2000).toISOString() });
    gateway.summaries(1, { runId }, [...seconds(t0, 3), summaryOf({ seq: 4, t0: t0 + 10_000 })]);
    await metrics.flush();
    expect(await requestsOf(runId)).toEqual([10, 20, 30]);
    expect(gateway.acknowledged(1, runId)).toBe(3);
  });

  it('counts nothing twice', async () => {
    const { runId, t0 } = await storeRun(store);
    gateway.summaries(1, { runId }, seconds(t0, 1, 2));
    gateway.summaries(1, { runId }, seconds(t0, 2, 3));
    await metrics.flush();
    gateway.summaries(1, { runId }, seconds(t0, 1, 2, 3, 4));
    await metrics.flush();
    expect(await requestsOf(runId)).toEqual([10, 20, 30, 40]);
    expect(gateway.acknowledged(1, runId)).toBe(4);
  });

  it('keeps what comes after a gap, but acknowledges only up to it', async () => {
    const { runId, t0 } = await storeRun(store);
    gateway.summaries(1, { runId }, seconds(t0, 1, 2));
    gateway.summaries(1, { runId }, seconds(t0, 5, 6));
    await metrics.flush();
    expect(gateway.acknowledged(1, runId)).toBe(2);
    expect(await requestsOf(runId)).toEqual([10, 20, null, null, 50, 60]);
    await restart();
    gateway.summaries(1, { runId }, seconds(t0, 3, 4, 5));
    await metrics.flush();
    expect(gateway.acknowledged(1, runId)).toBe(6);
    expect(await requestsOf(runId)).toEqual([10, 20, 30, 40, 50, 60]);
  });

  it('drops what belongs to another epoch, agent, job or run, and acknowledges none of it', async () => {
    const { runId, t0 } = await storeRun(store, { run: { epoch: 2 } });
    const waiting = await storeRun(store, { t0: null, status: 1 });
    gateway.summaries(1, { runId, epoch: 1 }, seconds(t0, 1));
    gateway.summaries(9, { runId, epoch: 2 }, seconds(t0, 1));
    gateway.summaries(1, { runId, epoch: 2, order: 1 }, seconds(t0, 1));
    gateway.summaries(1, { runId: 999_999 }, seconds(t0, 1));
    gateway.summaries(1, { runId: waiting.runId }, seconds(t0, 1));
    await metrics.flush();
    expect(gateway.sent).toEqual([]);
    expect(await sampleKeys(store.read, runId)).toEqual([]);
    gateway.summaries(1, { runId, epoch: 2 }, seconds(t0, 1));
    await metrics.flush();
    expect(gateway.acknowledged(1, runId)).toBe(1);
  });

  it('asks whether an agent still has its job', async () => {
    const { runId, t0 } = await storeRun(store);
    const picky = createTestGateway();
    const asked: unknown[] = [];
    const other = createMetrics({
      ...{ store, gateway: picky.gateway, log },
      isCurrent: (...question) => asked.push(question) < 0,
    });
    picky.summaries(1, { runId, epoch: 0 }, seconds(t0, 1));
    await other.close();
    expect(asked).toEqual([[runId, 0, 1]]);
    expect(picky.sent).toEqual([]);
  });

  it('refuses what could never be read again, and keeps the rest', async () => {
    const { runId, t0 } = await storeRun(store);
    const [first, second, third, fourth] = seconds(t0, 1, 2, 3, 4);
    const latency = (text: string) => ({ ...second, series: [{ ...second?.series[0], histograms: { x: text } }] });
    gateway.summaries(1, { runId }, [first, latency('////'), third, fourth] as never);
    gateway.summaries(1, { runId }, [{ ...fourth, seq: 5, at: t0 + 1e9 }] as never);
    gateway.summaries(1, { runId }, [
      { ...fourth, seq: 6, series: [{ ...fourth?.series[0], target: 'a\0b' }] },
    ] as never);
    await metrics.flush();
    expect(await requestsOf(runId)).toEqual([10, null, 30, 40]);
    expect(gateway.acknowledged(1, runId)).toBe(1);
  });

  it('keeps what it has while the database is away, and writes it when it is back', async () => {
    const { runId, t0 } = await storeRun(store);
    const { transaction } = store.database;
    let refusals = 0;
    store.database.transaction = async () => {
      refusals += 1;
      throw new StorageUnavailable('away');
    };
    try {
      gateway.summaries(1, { runId }, seconds(t0, 1, 2));
      await metrics.flush();
      gateway.summaries(1, { runId }, seconds(t0, 3));
      await metrics.flush();
    } finally {
      store.database.transaction = transaction;
    }
    expect(refusals).toBeGreaterThan(0);
    expect(gateway.sent).toEqual([]);
    await metrics.flush();
    expect(gateway.acknowledged(1, runId)).toBe(3);
    expect(await requestsOf(runId)).toEqual([10, 20, 30]);
  });

  it('writes the measurements of other runs when those of one cannot be written', async () => {
    const [gone, fine] = [await storeRun(store), await storeRun(store)];
    gateway.summaries(1, { runId: gone.runId }, seconds(gone.t0, 1));
    await metrics.flush();
    await store.database.transaction(async (tx) => {
      for (const table of ['runSamples', 'runNames', 'runAgents']) {
        await tx.run({ name: `drop${table}`, sql: `DELETE FROM "${table}" WHERE "runID" = ${gone.runId}` }, []);
      }
      await tx.run({ name: 'dropRun', sql: `DELETE FROM "runs" WHERE "id" = ${gone.runId}` }, []);
    });
    gateway.summaries(1, { runId: gone.runId }, seconds(gone.t0, 2));
    gateway.summaries(1, { runId: fine.runId }, seconds(fine.t0, 1));
    await metrics.flush();
    expect(gateway.acknowledged(1, gone.runId)).toBe(1);
    expect(gateway.acknowledged(1, fine.runId)).toBe(1);
  });

  it('knows whether everything that was measured has arrived', async () => {
    const outcome: JobOutcome = { status: 'finished', error: '', notes: [], saturatedSeconds: {}, lastSeq: 3 };
    const agents = { 1: [jobOf({ outcome })], 2: [jobOf({ outcome: { ...outcome, lastSeq: 1 } })] };
    const { runId, t0 } = await storeRun(store, { agents });
    const missing = async () => Object.fromEntries(await metrics.missingSeconds(runId));
    expect(await missing()).toEqual({ 1: 3, 2: 1 });
    gateway.summaries(1, { runId }, seconds(t0, 1, 3));
    gateway.summaries(2, { runId }, seconds(t0, 1));
    expect(await missing()).toEqual({ 1: 1 });
    await restart();
    gateway.summaries(1, { runId }, seconds(t0, 2));
    expect(await missing()).toEqual({});
  });

  it('tells those who watch a run of every new second', async () => {
    const { runId, t0 } = await storeRun(store);
    const reported: number[] = [];
    const leave = metrics.subscribe(runId, (second) => reported.push(second));
    gateway.summaries(1, { runId }, seconds(t0, 1));
    await metrics.flush();
    gateway.summaries(1, { runId }, seconds(t0, 2, 3));
    await metrics.flush();
    leave();
    gateway.summaries(1, { runId }, seconds(t0, 4));
    await metrics.flush();
    expect(reported).toEqual([1, 3]);
  });

  it('computes a second once for everybody who watches the run in the same way', async () => {
    const { runId, t0 } = await storeRun(store);
    gateway.summaries(1, { runId }, seconds(t0, 1, 2));
    await metrics.flush();
    const ask = (by: 'total' | 'agent') =>
      metrics.snapshots(runId, { metrics: ['http.requests'], by, fromSec: 2, toSec: 2 });
    const [first, second, other] = await Promise.all([ask('total'), ask('total'), ask('agent')]);
    expect(first).toHaveLength(1);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
    gateway.summaries(1, { runId }, seconds(t0, 3));
    await metrics.flush();
    expect(await metrics.latest(runId)).toMatchObject({ seq: 3 });
  });

  it('shows a second once every agent has reported it, or has had time to', async () => {
    const agents = { 1: [jobOf()], 2: [jobOf()] };
    const young = await storeRun(store, { t0: Date.now() - 2000, agents });
    gateway.summaries(1, { runId: young.runId }, seconds(young.t0, 1, 2));
    await metrics.flush();
    expect(await metrics.progressOf(young.runId)).toMatchObject({ second: 0, newest: 2 });
    gateway.summaries(2, { runId: young.runId }, seconds(young.t0, 1));
    await metrics.flush();
    expect(await metrics.progressOf(young.runId)).toMatchObject({ second: 1, newest: 2 });
    const old = await storeRun(store, { t0: Date.now() - 20_000, agents });
    gateway.summaries(1, { runId: old.runId }, seconds(old.t0, 1, 2));
    await metrics.flush();
    expect(await metrics.progressOf(old.runId)).toMatchObject({ second: 2, newest: 2 });
  });
});
