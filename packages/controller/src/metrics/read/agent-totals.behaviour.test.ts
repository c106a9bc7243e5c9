import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStore, type Store } from '../../store/store.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { createMetrics } from '../metrics.ts';
import { createTestGateway } from '../testing/gateway.ts';
import { jobOf, storeRun } from '../testing/stored-run.ts';
import { summaryOf } from '../testing/summaries.ts';

const log = pino({ level: 'silent' });
const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-totals-'));
let store: Store;
beforeAll(async () => {
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
});
afterAll(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const seconds = 5;

/** Metrics of a run with so many clients, and how many rows its reads return. */
const measuredRun = async (count: number) => {
  let rows = 0;
  const counting = {
    engine: store.read.engine,
    run: async (...of: Parameters<Store['read']['run']>) => {
      const found = await store.read.run(...of);
      rows += found.length;
      return found;
    },
  };
  const { gateway, summaries } = createTestGateway();
  const metrics = createMetrics({ store: { ...store, read: counting }, gateway, log });
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  const udp = jobOf({ engine: 'udp', pluginId: 3 });
  const jobs = (id: number) => (id === 1 ? [{ ...udp, role: 'server' as const }] : [udp]);
  const { runId, t0 } = await storeRun(store, { agents: Object.fromEntries(ids.map((id) => [id, jobs(id)])) });
  for (let seq = 1; seq <= seconds; seq += 1) {
    for (const id of ids) {
      const counters =
        id === 1 ? { 'udp.received': 5 * count, 'udp.lost': 0 } : { 'udp.sent': 10 + id, 'udp.txBytes': id };
      const gauges = { 'agent.cpuPct': id % 100 };
      const phase = seq === 1 ? 'rampUp' : 'steady';
      summaries(id, { runId }, [summaryOf({ seq, t0, phase, counters, gauges })]);
    }
  }
  await metrics.flush();
  const rowsOf = async (work: () => Promise<unknown>) => {
    rows = 0;
    await work();
    return rows;
  };
  return { metrics, runId, ids, rowsOf };
};

it('are those of each agent alone, with the losses that only the sums of both sides show', async () => {
  const { metrics, runId, ids } = await measuredRun(6);
  const together = await metrics.totalsByAgent(runId);
  for (const id of ids) expect(together.get(id)).toEqual(await metrics.totalsOf(runId, { agentId: id }));
  expect(together.size).toBe(6);
  await metrics.close();
});

it('of all agents are read in one pass: four times the agents, four times the rows', async () => {
  const [few, many] = [await measuredRun(10), await measuredRun(40)];
  const [fewRows, manyRows] = [
    await few.rowsOf(() => few.metrics.totalsByAgent(few.runId)),
    await many.rowsOf(() => many.metrics.totalsByAgent(many.runId)),
  ];
  expect(manyRows).toBeLessThan(fewRows * 5);
  await few.metrics.close();
  await many.metrics.close();
});
