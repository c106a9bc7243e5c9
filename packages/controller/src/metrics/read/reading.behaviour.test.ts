import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Histogram, type Summary } from '@rushhour/protocol';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleKeys } from '../../store/runs/samples.ts';
import { openStore, type Store } from '../../store/store.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import type { Aggregation } from '../rollup/aggregate.ts';
import { createTestGateway, type TestGateway } from '../testing/gateway.ts';
import { jobOf, setRun, storeRun } from '../testing/stored-run.ts';
import { createRandom, histogramOf, summaryOf } from '../testing/summaries.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-metrics-'));
const log = pino({ level: 'silent' });
let store: Store;
let gateway: TestGateway;
let metrics: Metrics;

beforeAll(async () => {
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
  gateway = createTestGateway();
  metrics = createMetrics({ store, gateway: gateway.gateway, log });
});
afterAll(async () => {
  await metrics.close();
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const restart = async () => {
  await metrics.close();
  gateway = createTestGateway();
  metrics = createMetrics({ store, gateway: gateway.gateway, log });
};

const random = createRandom(7);
const mergedOf = (histograms: readonly Histogram[]) =>
  histograms.reduce((total, next) => total.merge(next), new Histogram());

/** Two clients and a server, 150 seconds, ramps at both ends; what was measured is known exactly. */
const seconds = 150;
const phaseOf = (seq: number) => (seq <= 10 ? 'rampUp' : seq > 140 ? 'rampDown' : 'steady');
const latencies = [1, 2].map(() => Array.from({ length: seconds }, () => histogramOf(random, 50, 900, 0.6)));
const requests = [1, 2].map(() => Array.from({ length: seconds }, () => 90 + Math.round(random() * 20)));

const clientSecond = (client: number, seq: number, t0: number): Summary =>
  summaryOf({
    seq,
    t0,
    phase: phaseOf(seq),
    target: `10.0.0.${client + 1}:80`,
    counters: {
      'http.requests': requests[client]?.[seq - 1] as number,
      'http.begun': requests[client]?.[seq - 1] as number,
      'http.txBytes': 1000,
      ...(seq === 77 && { 'http.errors.timeout': 3 }),
    },
    gauges: { 'http.concurrent': 5, 'http.targetLoad': 100, 'agent.cpuPct': client === 0 ? 40 : 60 },
    histograms: { 'http.latency': latencies[client]?.[seq - 1] as Histogram },
  });
const serverSecond = (seq: number, t0: number): Summary =>
  summaryOf({
    ...{ seq, t0, target: '' },
    counters: { 'http.served': 200, 'http.txBytes': 50_000, 'http.rxBytes': 2000 },
    gauges: { 'http.concurrent': 10, 'agent.cpuPct': 20 },
  });
const agents = { 1: [jobOf()], 2: [jobOf()], 3: [jobOf({ role: 'server' })] };

const feed = async (runId: number, t0: number, from = 1, to = seconds) => {
  for (let seq = from; seq <= to; seq += 1) {
    gateway.summaries(1, { runId }, [clientSecond(0, seq, t0)]);
    gateway.summaries(2, { runId }, [clientSecond(1, seq, t0)]);
    gateway.summaries(3, { runId }, [serverSecond(seq, t0)]);
    if (seq % 30 === 0) await metrics.flush();
  }
  await metrics.flush();
};

/** Everything that can be asked of a run. */
const everything = async (runId: number) => ({
  total: await metrics.series(runId, { metrics: ['http.requests', 'http.latency', 'txBps', 'agentCpuPct'] }),
  steps: await metrics.series(runId, { metrics: ['http.latency', 'http.requests'], step: 7 }),
  plugin: await metrics.series(runId, { metrics: ['http.txBytes'], by: 'plugin', step: 10 }),
  agent: await metrics.series(runId, { metrics: ['http.latency', 'http.requests'], by: 'agent', step: 10 }),
  target: await metrics.series(runId, { metrics: ['http.requests'], by: 'target', step: 10 }),
  summary: await metrics.summaryOf(runId),
  totals: await metrics.totalsOf(runId),
  agentTotals: await metrics.totalsOf(runId, { agentId: 2 }),
  value: await metrics.value({
    ...{ runId, metric: 'http.latency', aggregation: 'p99', window: 'steady', scope: {} },
  }),
});

describe('reading measurements', () => {
  let runId: number;
  let t0: number;
  beforeAll(async () => {
    ({ runId, t0 } = await storeRun(store, { t0: Date.now() - seconds * 1000, agents }));
    await feed(runId, t0);
  });

  it('adds up counters over agents and merges histograms before a percentile is taken', async () => {
    const { step, t, series } = await metrics.series(runId, { metrics: ['http.requests', 'http.latency'] });
    expect(step).toBe(1);
    expect(t).toEqual(Array.from({ length: seconds }, (_, i) => t0 + (i + 1) * 1000));
    expect(series[0]?.values).toEqual(requests[0]?.map((count, i) => count + (requests[1]?.[i] ?? 0)));
    expect(series[1]?.values).toEqual(
      latencies[0]?.map((one, i) => mergedOf([one, latencies[1]?.[i] as Histogram]).quantile(0.99)),
    );
  });

  it('counts the events of every second in bands of values, none lost and none twice', async () => {
    const { t, series } = await metrics.series(runId, { metrics: ['http.requests', 'http.latency'], bands: true });
    const bands = series.filter(({ metric }) => metric === 'http.latency');
    expect(t).toHaveLength(seconds);
    expect(bands.length).toBeGreaterThan(1);
    const mergedAt = (i: number) => mergedOf(latencies.map((one) => one[i] as Histogram));
    const countAt = (i: number) => bands.reduce((sum, { values }) => sum + (values[i] ?? 0), 0);
    expect(t.map((_, i) => countAt(i))).toEqual(t.map((_, i) => mergedAt(i).count));
    for (const [i] of t.entries()) {
      const used = bands.filter(({ values }) => (values[i] ?? 0) > 0);
      expect(Number(used[0]?.labels['from'])).toBeLessThanOrEqual(mergedAt(i).min);
      expect(Number(used.at(-1)?.labels['to'])).toBeGreaterThan(mergedAt(i).max);
    }
    for (const [i, band] of bands.slice(1).entries()) {
      expect(band.labels['from']).toBe(bands[i]?.labels['to']);
    }
    expect(series.filter(({ metric }) => metric === 'http.requests')).toHaveLength(1);
  });

  it('makes steps of any length, percentiles still from all single values', async () => {
    const { step, t, series } = await metrics.series(runId, {
      ...{ metrics: ['http.requests', 'http.latency'], step: 60, agg: 'p50' },
    });
    expect(step).toBe(60);
    expect(t).toEqual([60, 120, 150].map((second) => t0 + second * 1000));
    const span = (from: number, to: number) => latencies.flatMap((one) => one.slice(from, to));
    expect(series[1]?.values).toEqual([
      mergedOf(span(0, 60)).quantile(0.5),
      mergedOf(span(60, 120)).quantile(0.5),
      mergedOf(span(120, 150)).quantile(0.5),
    ]);
    const sumOf = (from: number, to: number) =>
      requests.flatMap((one) => one.slice(from, to)).reduce((sum, one) => sum + one, 0);
    expect(series[0]?.values).toEqual([sumOf(0, 60) / 60, sumOf(60, 120) / 60, sumOf(120, 150) / 30]);
  });

  it('reads a part of the run, and never more than 2,000 points', async () => {
    const part = await metrics.series(runId, {
      ...{ metrics: ['http.requests'], from: t0 + 20_000, to: t0 + 29_000, agg: 'sum' },
    });
    expect(part.t).toEqual(Array.from({ length: 10 }, (_, i) => t0 + (20 + i) * 1000));
    const long = await storeRun(store, { t0: Date.now() - 10_000_000, agents: { 1: [jobOf()] } });
    for (const seq of [1, 9000]) {
      gateway.summaries(1, { runId: long.runId }, [summaryOf({ seq, t0: long.t0, counters: { 'http.requests': 5 } })]);
    }
    await metrics.flush();
    const { t, step, series } = await metrics.series(long.runId, { metrics: ['http.requests'] });
    expect(step).toBe(5);
    expect(t).toHaveLength(1800);
    expect(series[0]?.values.filter((value) => value !== null)).toEqual([5, 5]);
  });

  it('takes the word of clients over that of servers, and of servers where clients have none', async () => {
    const { series } = await metrics.series(runId, {
      ...{ metrics: ['http.txBytes', 'txBps', 'rxBytes', 'http.served'], step: 150, agg: 'rate' },
    });
    expect(series.map(({ metric, values }) => [metric, values])).toEqual([
      ['http.txBytes', [2000]],
      ['txBps', [16_000]],
      ['rxBytes', [2000]],
      ['http.served', [200]],
    ]);
  });

  it('tells agents, targets, plugins and their sides apart', async () => {
    const of = async (by: 'agent' | 'target' | 'plugin', metric: string) =>
      (await metrics.series(runId, { metrics: [metric], by, step: 150, agg: 'sum' })).series.map(
        ({ labels, values }) => [labels, values[0]],
      );
    const sums = requests.map((one) => one.reduce((sum, count) => sum + count, 0));
    expect(await of('agent', 'http.requests')).toEqual(
      [
        [{ agent: 'agent 1', agentID: '1' }, sums[0]],
        [{ agent: 'agent 2', agentID: '2' }, sums[1]],
      ].concat([[{ agent: 'agent 3', agentID: '3' }, 0]] as never),
    );
    expect(await of('target', 'http.requests')).toEqual(
      expect.arrayContaining([
        [{ target: '10.0.0.1:80' }, sums[0]],
        [{ target: '10.0.0.2:80' }, sums[1]],
      ]),
    );
    expect(await of('plugin', 'http.txBytes')).toEqual([
      [{ plugin: 'http', pluginID: '1', role: 'client' }, 300_000],
      [{ plugin: 'http', pluginID: '1', role: 'server' }, 7_500_000],
    ]);
  });

  it('takes the load of the busiest generator and the sum of everything else that stands', async () => {
    const { series } = await metrics.series(runId, {
      ...{ metrics: ['agentCpuPct', 'http.concurrent', 'targetLoad', 'achievedLoad'], step: 150 },
    });
    const sum = requests.flat().reduce((total, count) => total + count, 0);
    expect(series.map(({ values }) => values[0])).toEqual([60, 10, 200, sum / seconds]);
  });

  it('summarises each side over the steady part, servers over that of their clients', async () => {
    const summary = await metrics.summaryOf(runId);
    expect(
      summary.map(({ configurationIndex, plugin, role, window, seconds }) => ({
        ...{ configurationIndex, plugin, role, window, seconds },
      })),
    ).toEqual([
      { configurationIndex: 0, plugin: 'http', role: 'client', window: 'steady', seconds: 130 },
      { configurationIndex: 0, plugin: 'http', role: 'server', window: 'steady', seconds: 130 },
    ]);
    const steady = latencies.flatMap((one) => one.slice(10, 140));
    const find = (side: number, name: string) => summary[side]?.metrics.find(({ metric }) => metric === name);
    const all = mergedOf(steady);
    expect(find(0, 'http.latency')).toEqual({
      ...{ metric: 'http.latency', unit: 'µs', type: 'histogram', count: all.count, min: all.min, max: all.max },
      ...{ avg: all.avg, p50: all.quantile(0.5), p90: all.quantile(0.9), p95: all.quantile(0.95) },
      ...{ p99: all.quantile(0.99), p999: all.quantile(0.999) },
    });
    const sum = requests.flatMap((one) => one.slice(10, 140)).reduce((total, count) => total + count, 0);
    expect(find(0, 'http.requests')).toMatchObject({ type: 'counter', sum, rate: sum / 130 });
    expect(find(0, 'errors')).toMatchObject({ sum: 6 });
    expect(find(1, 'errors')).toMatchObject({ sum: 0 });
    expect(find(1, 'http.served')).toMatchObject({ sum: 26_000, rate: 200 });
    expect(find(0, 'http.concurrent')).toMatchObject({ type: 'gauge', avg: 10, min: 10, max: 10, last: 10 });
    expect(find(1, 'achievedLoad')).toBeUndefined();
  });

  it('computes what thresholds ask for', async () => {
    const value = (metric: string, aggregation: Aggregation, more: object = {}) =>
      metrics.value({ runId, metric, aggregation, scope: {}, window: 'steady', ...more });
    const steady = [0, 1].map((client) => latencies[client]?.slice(10, 140) ?? []);
    expect(await value('http.latency', 'p99')).toBe(mergedOf(steady.flat()).quantile(0.99));
    expect(await value('http.latency', 'p99', { window: 'all' })).toBe(mergedOf(latencies.flat()).quantile(0.99));
    expect(await value('http.latency', 'p99', { window: { fromSec: 20, toSec: 30 } })).toBe(
      mergedOf(latencies.flatMap((one) => one.slice(20, 30))).quantile(0.99),
    );
    expect(await value('http.latency', 'p99', { scope: { agentID: 2 } })).toBe(
      mergedOf(steady[1] ?? []).quantile(0.99),
    );
    expect(await value('http.latency', 'p99', { scope: { configurationIndex: 0, pluginID: 1 } })).toBe(
      mergedOf(steady.flat()).quantile(0.99),
    );
    expect(await value('http.latency', 'p99', { scope: { configurationIndex: 1 } })).toBeUndefined();
    expect(await value('http.latency', 'count')).toBe(130 * 100);
    expect(await value('errors', 'sum')).toBe(6);
    expect(await value('http.errors', 'sum')).toBe(6);
    // Nobody ever reported one: for what is counted that means none.
    expect(await value('http.ko', 'sum')).toBe(0);
    expect(await value('http.status.500', 'max')).toBe(0);
    expect(await value('http.tls', 'p99')).toBeUndefined();
    expect(await value('dns.queries', 'sum')).toBeUndefined();
    const rates = (requests[0] ?? []).map((count, i) => count + (requests[1]?.[i] ?? 0)).slice(10, 140);
    expect(await value('http.requests', 'max')).toBe(Math.max(...rates));
    expect(await value('http.requests', 'min')).toBe(Math.min(...rates));
    expect(await value('http.requests', 'last')).toBe(rates.at(-1));
    expect(await value('http.requests', 'p50')).toBe(rates.toSorted((a, b) => a - b)[64]);
  });

  it('says the same after a restart, after compaction, and from minutes that were merged before', async () => {
    const before = await everything(runId);
    await restart();
    expect(await everything(runId)).toEqual(before);
    await setRun(store, runId, { status: 7 });
    await metrics.finish(runId);
    const keys = await sampleKeys(store.read, runId);
    expect(keys.every(({ isBlock }) => isBlock === 1)).toBe(true);
    // Three jobs and two sides, three minutes each.
    expect(keys).toHaveLength(3 * 3 + 2 * 3);
    expect(await everything(runId)).toEqual(before);
    await restart();
    expect(await everything(runId)).toEqual(before);
  });
});

describe('the ends of a run', () => {
  const sides = { 1: [jobOf()], 2: [jobOf({ role: 'server' })] };
  const requests = async (runId: number) =>
    (await metrics.series(runId, { metrics: ['http.requests', 'http.served', 'txBytes'] })).series.map(
      ({ values }) => values,
    );

  it('the last piece of a job is no point of a chart, and what it counted belongs to the steady second before', async () => {
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 60_000, agents: sides });
    const second = (seq: number) => summaryOf({ seq, t0, counters: { 'http.requests': 200, 'http.txBytes': 10 } });
    const ending = summaryOf({ seq: 4, t0, phase: 'windDown', counters: { 'http.requests': 1 } });
    const tail = { ...ending, at: t0 + 3400, spanMs: 400 };
    const served = (seq: number) =>
      summaryOf({ seq, t0, target: '', counters: { 'http.served': 200, 'http.txBytes': 99 } });
    gateway.summaries(1, { runId }, [second(1), second(2), second(3), tail]);
    gateway.summaries(2, { runId }, [1, 2, 3, 4, 5].map(served));
    await metrics.flush();
    // After the clients have ended, servers do not speak for them.
    expect(await requests(runId)).toEqual([
      [200, 200, 200, null, null],
      [200, 200, 200, 200, 200],
      [10, 10, 10, null, null],
    ]);
    const [client, server] = await metrics.summaryOf(runId);
    expect([client?.seconds, server?.seconds]).toEqual([3, 3]);
    const find = (name: string) => client?.metrics.find(({ metric }) => metric === name);
    expect(find('http.requests')).toMatchObject({ sum: 601, rate: 601 / 3 });
    // Each side tells of what it has to do with.
    expect(find('http.served')).toBeUndefined();
    expect(server?.metrics.map(({ metric }) => metric)).toEqual([
      'txBytes',
      'txBps',
      'errors',
      'http.served',
      'http.txBytes',
    ]);
  });

  it('a summary that comes late belongs to the second it was about', async () => {
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 60_000 });
    const piece = (seq: number, fromMs: number, toMs: number) => ({
      ...summaryOf({ seq, t0, counters: { 'http.requests': (toMs - fromMs) / 10 } }),
      ...{ at: t0 + toMs, spanMs: toMs - fromMs },
    });
    const pieces = [piece(1, 5, 1003), piece(2, 1003, 2700), piece(3, 2700, 3001), piece(4, 3001, 3990)];
    gateway.summaries(1, { runId }, pieces);
    await metrics.flush();
    const [values] = await requests(runId);
    expect(values?.map((value) => Math.round(value ?? 0))).toEqual([100, 100, 100, 100]);
  });

  it('a run that was never steady is judged by all of it, once it is over', async () => {
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 60_000 });
    const second = (seq: number) => summaryOf({ seq, t0, phase: 'rampUp', counters: { 'http.requests': 10 * seq } });
    gateway.summaries(1, { runId }, [second(1), second(2)]);
    await metrics.flush();
    const query = { runId, metric: 'http.requests', aggregation: 'sum', scope: {}, window: 'steady' } as const;
    expect(await metrics.value(query)).toBeUndefined();
    expect(await metrics.summaryOf(runId)).toMatchObject([{ window: 'all', seconds: 2 }]);
    await setRun(store, runId, { status: 6 });
    expect(await metrics.value(query)).toBe(30);
  });
});
