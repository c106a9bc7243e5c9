import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasRollups } from '../../store/runs/run-rollups.ts';
import { openStore, type Store } from '../../store/store.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import type { SeriesSelection } from '../read/run-reader.ts';
import { UnknownMetric } from '../read/unknown-metric.ts';
import { createTestGateway, type TestGateway } from '../testing/gateway.ts';
import { jobOf, setRun, storeRun } from '../testing/stored-run.ts';
import { createHttpSeconds, createRandom } from '../testing/summaries.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-steps-'));
const agentIds = [1, 2, 3];
const seconds = 130;
let store: Store;
let gateway: TestGateway;
/** Reads in the thread whatever is not in memory. */
let metrics: Metrics;

const httpSecond = createHttpSeconds(createRandom(7), 50);

beforeAll(async () => {
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
  gateway = createTestGateway();
  metrics = createMetrics({ store, gateway: gateway.gateway, log: pino({ level: 'silent' }), longRows: 1 });
});
afterAll(async () => {
  await metrics.close();
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const measuredRun = async () => {
  const agents = Object.fromEntries(agentIds.map((id) => [id, [jobOf()]]));
  const { runId, t0 } = await storeRun(store, { t0: Date.now() - 300_000, agents });
  const say = (agentId: number, from: number, to: number) => {
    const summaries = Array.from({ length: to - from + 1 }, (_, i) => httpSecond({ seq: from + i, t0, kinds: 4 }));
    gateway.summaries(agentId, { runId }, summaries);
  };
  return { runId, t0, say };
};

const ended = async (t0: number, runId: number) => {
  await setRun(store, runId, { status: 7, finishedAt: new Date(t0 + seconds * 1000).toISOString() });
  await metrics.finish(runId);
};

const selections: SeriesSelection[] = [
  ...(['rate', 'sum', 'min', 'max', 'avg', 'last', 'p99', 'count'] as const).flatMap((agg) => [
    { metrics: ['http.requests', 'http.latency', 'agentCpuPct', 'txBps'], agg, by: 'agent' as const, step: 60 },
    { metrics: ['http.requests', 'http.latency', 'agentCpuPct', 'errors'], agg, step: 10 },
  ]),
  { metrics: ['http.latency', 'http.requests'], step: 120 },
];
const read = async (runId: number) => ({
  series: await Promise.all(selections.map((selection) => metrics.series(runId, selection))),
  totals: await metrics.totalsByAgent(runId),
  one: await metrics.totalsOf(runId, { agentId: 2 }),
  summary: await metrics.summaryOf(runId),
});

/** Sums are the same but for the order in which they were added up. */
const rounded = (value: unknown) =>
  JSON.parse(JSON.stringify(value instanceof Map ? [...value] : value), (_, one) =>
    typeof one === 'number' ? Number(one.toPrecision(10)) : one,
  );

describe('stored steps of a long run', () => {
  it('say what its seconds say, and seconds that come late make them void', async () => {
    const { runId, t0, say } = await measuredRun();
    for (const id of agentIds) say(id, 1, id === 3 ? seconds - 3 : seconds);
    await metrics.flush();
    const bySeconds = await read(runId);
    expect(await hasRollups(store.read, runId, 60)).toBe(false);
    expect(bySeconds.series[0]?.series).toHaveLength(agentIds.length * 4);

    await ended(t0, runId);
    await metrics.stepsStored();
    for (const step of [0, 10, 60]) expect(await hasRollups(store.read, runId, step)).toBe(true);
    const bySteps = await read(runId);
    for (const [index, selection] of selections.entries()) {
      expect(rounded(bySteps.series[index]), JSON.stringify(selection)).toEqual(rounded(bySeconds.series[index]));
    }
    expect(rounded(bySteps.totals)).toEqual(rounded(bySeconds.totals));
    expect(rounded(bySteps.one)).toEqual(rounded(bySeconds.one));
    expect(rounded(bySteps.summary)).toEqual(rounded(bySeconds.summary));

    say(3, seconds - 2, seconds);
    await metrics.flush();
    expect(await hasRollups(store.read, runId, 60)).toBe(false);
    const sumOf = async () =>
      (await metrics.totalsOf(runId, { agentId: 3 })).find((one) => one.metric === 'http.requests')?.sum;
    const before = bySeconds.totals.get(3)?.find((one) => one.metric === 'http.requests')?.sum ?? 0;
    expect(await sumOf()).toBeGreaterThan(before);
  });

  it('are read in a thread, which names what it does not know', async () => {
    const { runId, t0, say } = await measuredRun();
    for (const id of agentIds) say(id, 1, seconds);
    await metrics.flush();
    await ended(t0, runId);
    await expect(metrics.series(runId, { metrics: ['no.such'] })).rejects.toBeInstanceOf(UnknownMetric);
    expect(await metrics.totalsByAgent(runId)).toHaveProperty('size', agentIds.length);
    await metrics.stepsStored();
  });
});
