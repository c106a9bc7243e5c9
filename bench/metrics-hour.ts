/** An hour of a thousand agents with fifty metrics each: what a chart and a report cost, and who waits meanwhile. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createMetrics, type Metrics } from '../packages/controller/src/metrics/metrics.ts';
import { createTestGateway } from '../packages/controller/src/metrics/testing/gateway.ts';
import { openStore } from '../packages/controller/src/store/store.ts';
import { storeLongRun } from './long-run.ts';
import { type Row, report } from './report.ts';

const agentCount = Number(process.env['AGENTS'] ?? 1000);
const delays: number[] = [];
/** How long it took, and how late others were answered meanwhile. */
const timed = async (what: string, work: () => Promise<unknown>) => {
  const lateness = monitorEventLoopDelay({ resolution: 5 });
  lateness.enable();
  const startedAt = performance.now();
  await work();
  const ms = performance.now() - startedAt;
  await new Promise((resolve) => setTimeout(resolve, 20));
  lateness.disable();
  const latestMs = lateness.max / 1e6;
  delays.push(latestMs);
  console.log(`${what}: ${ms.toFixed(0)} ms, others at most ${latestMs.toFixed(0)} ms late`);
  return ms;
};

const charts = ['achievedLoad', 'targetLoad', 'http.latency', 'errors', 'agentCpuPct', 'http.requests'];
const reportOf = async (metrics: Metrics, runId: number) => {
  await metrics.summaryOf(runId);
  for (const name of charts) await metrics.series(runId, { metrics: [name] });
  for (const agg of ['p50', 'p95', 'max'] as const) await metrics.series(runId, { metrics: ['http.latency'], agg });
  return metrics.totalsByAgent(runId);
};

const measure = async (dataDir: string): Promise<Row[]> => {
  const store = await openStore({ dataDir, databaseUrl: process.env['DATABASE_URL'] });
  const { runId } = await storeLongRun(store, { agentCount, minutes: 60 });
  const metrics = createMetrics({ store, gateway: createTestGateway().gateway, log: console as never });
  await timed('bringing it into its final form', () => metrics.finish(runId));
  const chart = () => metrics.series(runId, { metrics: ['http.requests', 'http.latency'] });
  await timed('the first chart, which starts the thread', chart);
  await timed('a chart while steps are made', chart);
  await timed('making all steps', () => metrics.stepsStored());
  const chartMs = await timed('a chart', chart);
  const ofAgentsMs = await timed('a chart with a line for each agent', () =>
    metrics.series(runId, { metrics: ['http.requests'], by: 'agent' }),
  );
  const reportMs = await timed('a report', () => reportOf(metrics, runId));
  await metrics.close();
  await store.close();
  return [
    { name: 'hour.chartMs', value: chartMs, goal: 300, better: 'lower' },
    { name: 'hour.chartOfAgentsMs', value: ofAgentsMs, goal: 3000, better: 'lower' },
    { name: 'hour.reportMs', value: reportMs, goal: 3000, better: 'lower' },
    { name: 'hour.othersLateMs', value: Math.max(...delays), goal: 50, better: 'lower' },
  ];
};

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
try {
  process.exitCode = report(await measure(dataDir)) ? 0 : 1;
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
