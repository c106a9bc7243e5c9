import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore, type Store } from '../../store/store.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { createTestGateway, type TestGateway } from '../testing/gateway.ts';
import { jobOf, setRun, storeRun } from '../testing/stored-run.ts';
import { createHttpSeconds, createRandom } from '../testing/summaries.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-hour-'));
const agentCount = 10;
const seconds = 3600;
const maxBytes = 30 * 1024 * 1024;
let store: Store;
let gateway: TestGateway;
let metrics: Metrics;

beforeAll(async () => {
  store = await openStore({ dataDir });
  gateway = createTestGateway();
  metrics = createMetrics({ store, gateway: gateway.gateway, log: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await metrics.close();
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Pages that tables and their indexes fill. */
const bytesOf = (...tables: string[]) => {
  const db = new DatabaseSync(join(dataDir, 'rushhour.db'), { readOnly: true });
  const names = tables.map((table) => `'${table}'`).join();
  const { bytes } = db
    .prepare(
      `SELECT sum(pgsize) AS bytes FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name IN (${names}))`,
    )
    .get() as { bytes: number };
  db.close();
  return bytes;
};

describe('an hour of ten agents', () => {
  it('takes less than 30 MiB and is taken in far faster than it was measured', async () => {
    const agents = Object.fromEntries(Array.from({ length: agentCount }, (_, i) => [i + 1, [jobOf()]]));
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - (seconds + 60) * 1000, agents });
    const httpSecond = createHttpSeconds(createRandom(11), 1000);
    let requests = 0;
    let workMs = 0;
    for (let seq = 1; seq <= seconds; seq += 1) {
      for (let agentId = 1; agentId <= agentCount; agentId += 1) {
        const summary = httpSecond({ seq, t0, kinds: 2 + (agentId % 5) });
        requests += summary.series[0]?.counters['http.requests'] ?? 0;
        gateway.summaries(agentId, { runId }, [summary]);
      }
      const startedAt = performance.now();
      await metrics.flush();
      workMs += performance.now() - startedAt;
    }
    await setRun(store, runId, { status: 7 });
    const startedAt = performance.now();
    await metrics.finish(runId);
    workMs += performance.now() - startedAt;
    expect(gateway.acknowledged(agentCount, runId)).toBe(seconds);

    const bytes = bytesOf('runSamples', 'runNames');
    console.log(
      `an hour of ${agentCount} agents: ${(bytes / 2 ** 20).toFixed(1)} MiB, ${Math.round(workMs)} ms of work`,
    );
    expect(bytes).toBeLessThan(maxBytes);
    expect(workMs).toBeLessThan(seconds * 1000 * 0.05);

    const readAt = performance.now();
    const { t, series } = await metrics.series(runId, { metrics: ['http.requests', 'http.latency'], step: 1 });
    console.log(`its series: ${Math.round(performance.now() - readAt)} ms`);
    expect(t.length).toBeLessThanOrEqual(2000);
    expect(series[1]?.values.every((value) => value !== null)).toBe(true);
    const summary = await metrics.summaryOf(runId);
    expect(summary[0]?.metrics.find(({ metric }) => metric === 'http.requests')?.sum).toBe(requests);
  });
});
