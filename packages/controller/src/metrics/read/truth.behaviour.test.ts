import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore, type Store } from '../../store/store.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { createTestGateway, type TestGateway } from '../testing/gateway.ts';
import { jobOf, setRun, storeRun } from '../testing/stored-run.ts';
import { createRandom, summaryOf } from '../testing/summaries.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-truth-'));
let store: Store;
let gateway: TestGateway;
let metrics: Metrics;

beforeAll(async () => {
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
  gateway = createTestGateway();
  metrics = createMetrics({ store, gateway: gateway.gateway, log: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await metrics.close();
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('losses of a run', () => {
  const udp = { engine: 'udp', pluginId: 3 };
  const sides = { 1: [jobOf(udp)], 2: [jobOf({ ...udp, role: 'server' })] };
  const receiverCounters = { 'udp.received': 0, 'udp.lost': 0, 'udp.packetLossDurationMs': 0 };
  const lostQuery = { metric: 'udp.lost', aggregation: 'sum', window: 'steady', scope: {} } as const;

  it('are what was sent and did not arrive, also when nothing arrived', async () => {
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 20_000, agents: sides });
    for (let seq = 1; seq <= 10; seq += 1) {
      gateway.summaries(1, { runId }, [summaryOf({ seq, t0, counters: { 'udp.sent': 100 } })]);
      const counters = seq === 1 ? receiverCounters : {};
      gateway.summaries(2, { runId }, [summaryOf({ seq, t0, target: '', counters })]);
    }
    await metrics.flush();
    expect(await metrics.value({ runId, ...lostQuery })).toBe(800);
    await setRun(store, runId, { status: 7 });
    expect(await metrics.value({ runId, ...lostQuery })).toBe(1000);
    expect(await metrics.value({ runId, ...lostQuery, scope: { agentID: 2 } })).toBe(1000);
    const { series } = await metrics.series(runId, { metrics: ['udp.lost'], agg: 'sum' });
    expect(series[0]?.values).toEqual(new Array(10).fill(100));
    const byAgent = await metrics.series(runId, { metrics: ['udp.lost'], agg: 'sum', by: 'agent' });
    expect(byAgent.series.find(({ labels }) => labels['agentID'] === '2')?.values).toEqual(new Array(10).fill(100));
    const receiver = (await metrics.summaryOf(runId)).find(({ role }) => role === 'server');
    expect(receiver?.metrics).toContainEqual(expect.objectContaining({ metric: 'udp.lost', sum: 1000 }));
    expect(receiver?.metrics).toContainEqual(
      expect.objectContaining({ metric: 'udp.packetLossDurationMs', sum: 10_000 }),
    );
    await metrics.finish(runId);
    expect(await metrics.value({ runId, ...lostQuery })).toBe(1000);
  });

  it.each([
    ['stream', 7],
    ['pcap-replay', 8],
  ])('of %s are known in silence, too', async (engine, pluginId) => {
    const job = { engine, pluginId };
    const agents = { 1: [jobOf(job)], 2: [jobOf({ ...job, role: 'server' as const })] };
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 20_000, agents, status: 7 });
    for (let seq = 1; seq <= 5; seq += 1) {
      gateway.summaries(1, { runId }, [summaryOf({ seq, t0, counters: { [`${engine}.sent`]: 100 } })]);
      const counters = seq === 1 ? { [`${engine}.received`]: 40, [`${engine}.lost`]: 0 } : {};
      gateway.summaries(2, { runId }, [summaryOf({ seq, t0, target: '', counters })]);
    }
    await metrics.flush();
    const metric = `${engine}.lost`;
    expect(await metrics.value({ runId, ...lostQuery, metric })).toBe(460);
    const { series } = await metrics.series(runId, { metrics: [metric], agg: 'sum' });
    expect(series[0]?.values).toEqual([60, 100, 100, 100, 100]);
  });

  it('include the last packets, which no later packet reveals', async () => {
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 20_000, agents: sides, status: 7 });
    gateway.summaries(1, { runId }, [summaryOf({ seq: 1, t0, counters: { 'udp.sent': 100 } })]);
    const received = { ...receiverCounters, 'udp.received': 90, 'udp.lost': 9 };
    gateway.summaries(2, { runId }, [summaryOf({ seq: 1, t0, target: '', counters: received })]);
    await metrics.flush();
    expect(await metrics.value({ runId, ...lostQuery })).toBe(10);
  });

  it('of a client whose packets are echoed are those of both directions', async () => {
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 20_000, agents: sides, status: 7 });
    const echoes = { 'udp.sent': 100, ...receiverCounters };
    gateway.summaries(1, { runId }, [summaryOf({ seq: 1, t0, counters: echoes })]);
    const received = { ...receiverCounters, 'udp.received': 60, 'udp.sent': 60 };
    gateway.summaries(2, { runId }, [summaryOf({ seq: 1, t0, target: '', counters: received })]);
    await metrics.flush();
    expect(await metrics.value({ runId, ...lostQuery })).toBe(100);
  });
});

describe('seconds of a generator that stalls', () => {
  const requestsOf = (values: readonly (number | null)[]) => values.reduce<number>((sum, one) => sum + (one ?? 0), 0);

  it('all count: summary, totals and thresholds equal the series, whenever ticks come', async () => {
    const random = createRandom(11);
    for (let round = 0; round < 12; round += 1) {
      const lengthMs = 2000 + Math.floor(random() * 9000);
      const { runId, t0 } = await storeRun(store, { t0: Date.now() - 20_000, status: 7 });
      let [at, seq, sent] = [0, 0, 0];
      while (at < lengthMs + 200) {
        const stallMs = random() < 0.4 ? random() * 1900 : random() * 5;
        const next = Math.min(lengthMs + 200, (Math.floor(at / 1000) + 1) * 1000 + stallMs);
        const phase = (at + next) / 2 < lengthMs ? 'steady' : 'windDown';
        const requests = 1 + Math.floor(random() * 100);
        sent += requests;
        seq += 1;
        const summary = summaryOf({ seq, t0, phase, spanMs: next - at, counters: { 'http.requests': requests } });
        gateway.summaries(1, { runId }, [{ ...summary, at: t0 + next }]);
        at = next;
      }
      await metrics.flush();
      const of = { runId, metric: 'http.requests', aggregation: 'sum', scope: {} } as const;
      const { series } = await metrics.series(runId, { metrics: ['http.requests'], agg: 'sum' });
      const [entry] = await metrics.summaryOf(runId);
      expect({
        series: requestsOf(series[0]?.values ?? []),
        summary: entry?.metrics.find(({ metric }) => metric === 'http.requests')?.sum,
        totals: (await metrics.totalsOf(runId, { metrics: ['http.requests'] }))[0]?.sum,
        steady: await metrics.value({ ...of, window: 'steady' }),
        all: await metrics.value({ ...of, window: 'all' }),
      }).toEqual({ series: sent, summary: sent, totals: sent, steady: sent, all: sent });
    }
  });
});

describe('seconds at the end of a job', () => {
  interface Piece {
    readonly order?: number;
    readonly from: number;
    readonly to: number;
    readonly phase?: 'steady' | 'windDown';
  }
  /** A run whose clients send 100 requests a second in the given pieces of time. */
  const runOf = async (jobs: number, pieces: readonly Piece[]) => {
    const orders = Array.from({ length: jobs }, () => jobOf());
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 20_000, status: 7, agents: { 1: orders } });
    for (const [index, { order = 0, from, to, phase = 'steady' }] of pieces.entries()) {
      const requests = phase === 'steady' ? Math.round((to - from) * 100) : 0;
      const spanMs = Math.round((to - from) * 1000);
      const counters = { 'http.requests': requests };
      const summary = summaryOf({ seq: index + 1, t0, phase, spanMs, counters });
      gateway.summaries(1, { runId, order }, [{ ...summary, at: t0 + to * 1000 }]);
    }
    await metrics.flush();
    return runId;
  };
  const rates = async (runId: number) => {
    const of = { runId, metric: 'http.requests', scope: {} } as const;
    const value = (aggregation: 'avg' | 'max', window: 'steady' | 'all') =>
      metrics.value({ ...of, aggregation, window });
    const { series } = await metrics.series(runId, { metrics: ['http.requests'], agg: 'rate' });
    return {
      steady: [await value('avg', 'steady'), await value('max', 'steady')],
      all: await value('max', 'all'),
      chart: series[0]?.values,
    };
  };

  it('count with their time: a run of 2.5 seconds has the rate it had', async () => {
    const runId = await runOf(1, [
      { from: 0, to: 1 },
      { from: 1, to: 2 },
      { from: 2, to: 2.5 },
    ]);
    expect(await rates(runId)).toEqual({ steady: [100, 100], all: 100, chart: [100, 100, 100] });
  });

  it('are no points of a chart when they are short', async () => {
    const runId = await runOf(1, [
      { from: 0, to: 1 },
      { from: 1, to: 2 },
      { from: 2, to: 2.04 },
    ]);
    const { chart } = await rates(runId);
    expect(chart).toEqual([100, 100, null]);
    const sums = await metrics.series(runId, { metrics: ['http.requests'], agg: 'sum' });
    expect(sums.series[0]?.values).toEqual([100, 100, 4]);
    const snapshots = await metrics.snapshots(runId, { metrics: ['http.requests'], fromSec: 1, toSec: 3 });
    expect(snapshots.at(-1)?.values[0]?.metrics).toMatchObject([{ sum: 4, rate: null }]);
  });

  it('at a change of stages belong to the stage that runs', async () => {
    const runId = await runOf(2, [
      { from: 0, to: 1 },
      { from: 1, to: 2 },
      { order: 0, from: 2, to: 2.1, phase: 'windDown' },
      { order: 1, from: 2, to: 3 },
      { order: 1, from: 3, to: 4 },
    ]);
    expect(await rates(runId)).toEqual({ steady: [100, 100], all: 100, chart: [100, 100, 100, 100] });
  });
});

describe('common metrics', () => {
  const seconds = async (job: Parameters<typeof jobOf>[0], counters: Record<string, number>) => {
    const { runId, t0 } = await storeRun(store, { t0: Date.now() - 20_000, agents: { 1: [jobOf(job)] }, status: 7 });
    for (let seq = 1; seq <= 3; seq += 1) gateway.summaries(1, { runId }, [summaryOf({ seq, t0, counters })]);
    await metrics.flush();
    return runId;
  };
  const averageOf = (runId: number, metric: string) =>
    metrics.value({ runId, metric, aggregation: 'avg', window: 'steady', scope: {} });

  it.each([
    ['stream', { 'stream.sent': 50, 'stream.dropped': 0 }, { achievedLoad: 50, txPps: 50, agentDrops: 0 }],
    ['icmp', { 'icmp.sent': 40, 'icmp.received': 30, 'icmp.begun': 40 }, { achievedLoad: 40, txPps: 40, rxPps: 30 }],
    ['pcap-replay', { 'pcap-replay.sent': 20, 'pcap-replay.received': 10 }, { achievedLoad: 20, txPps: 20, rxPps: 10 }],
    ['application', { 'application.begun': 7, 'application.dropped': 1 }, { achievedLoad: 7, agentDrops: 1 }],
    ['har-replay', { 'har-replay.begun': 5, 'har-replay.requests': 50 }, { achievedLoad: 5 }],
    ['waf', { 'waf.sent': 3, 'waf.benign': 1 }, { achievedLoad: 4 }],
    ['cve-replay', { 'cve-replay.sent': 2 }, { achievedLoad: 2 }],
    ['malware-transfer', { 'malware-transfer.sent': 2 }, { achievedLoad: 2 }],
    ['fuzzing', { 'fuzzing.sent': 6 }, { achievedLoad: 6 }],
    ['compromised-host', { 'compromised-host.sent': 1 }, { achievedLoad: 1 }],
    ['dns', { 'dns.begun': 8, 'dns.dropped': 0 }, { achievedLoad: 8, agentDrops: 0 }],
    ['tcp', { 'tcp.begun': 4 }, { achievedLoad: 4 }],
    ['tls', { 'tls.begun': 4 }, { achievedLoad: 4 }],
    ['http', { 'http.requests': 9, 'http.begun': 9, 'http.dropped': 0 }, { achievedLoad: 9, agentDrops: 0 }],
  ])('of %s are true or absent, never 0 instead of unknown', async (engine, counters, expected) => {
    const runId = await seconds({ engine }, counters);
    const names = ['achievedLoad', 'txPps', 'rxPps', 'txPackets', 'rxPackets', 'agentDrops'];
    const found = Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await averageOf(runId, name)])),
    );
    const { txPps: txPackets, rxPps: rxPackets } = expected as { txPps?: number; rxPps?: number };
    expect(found).toEqual({ ...expected, ...(txPackets && { txPackets }), ...(rxPackets && { rxPackets }) });
  });
});
