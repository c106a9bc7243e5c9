/** The cost of ingesting and storing samples. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMetrics } from '../packages/controller/src/metrics/metrics.ts';
import { createTestGateway } from '../packages/controller/src/metrics/testing/gateway.ts';
import { jobOf, setRun, storeRun } from '../packages/controller/src/metrics/testing/stored-run.ts';
import { createHttpSeconds, createRandom } from '../packages/controller/src/metrics/testing/summaries.ts';
import { openStore } from '../packages/controller/src/store/store.ts';
import { type Row, report } from './report.ts';

const agentCount = 1000;
const seconds = 90;

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Wall time and CPU time. */
const timed = async (work: () => Promise<unknown>) => {
  const [startedAt, cpu] = [performance.now(), cpuMs()];
  await work();
  return { wallMs: performance.now() - startedAt, cpuMs: cpuMs() - cpu };
};

/** A thousand agents with a summary per second each: the cost of ingesting, storing and reading them. */
const measure = async (dataDir: string): Promise<Row[]> => {
  const store = await openStore({ dataDir, databaseUrl: process.env['DATABASE_URL'] });
  const { gateway, summaries } = createTestGateway();
  const metrics = createMetrics({ store, gateway, log: console as never });
  const agents = Object.fromEntries(Array.from({ length: agentCount }, (_, i) => [i + 1, [jobOf()]]));
  const { runId, t0 } = await storeRun(store, { t0: Date.now() - (seconds + 60) * 1000, agents });
  const httpSecond = createHttpSeconds(createRandom(5), 200);
  const taken = { wallMs: 0, cpuMs: 0 };
  for (let seq = 1; seq <= seconds; seq += 1) {
    for (let agentId = 1; agentId <= agentCount; agentId += 1) {
      summaries(agentId, { runId }, [httpSecond({ seq, t0, kinds: 2 + (agentId % 5) })]);
    }
    const { wallMs, cpuMs } = await timed(() => metrics.flush());
    taken.wallMs += wallMs;
    taken.cpuMs += cpuMs;
  }
  const latest = await timed(() => metrics.latest(runId));
  await setRun(store, runId, { status: 7 });
  const kept = await timed(() => metrics.finish(runId));
  const series = await timed(() => metrics.series(runId, { metrics: ['http.requests', 'http.latency'] }));
  await metrics.close();
  await store.close();
  return [
    { name: 'metrics.summariesPerSecond', value: (agentCount * seconds * 1000) / taken.wallMs, goal: 2000 },
    {
      name: 'metrics.coresFor1000Agents',
      value: (taken.cpuMs + kept.cpuMs) / seconds / 1000,
      goal: 0.5,
      better: 'lower',
    },
    { name: 'metrics.latestOf1000AgentsMs', value: latest.wallMs, goal: 200, better: 'lower' },
    { name: 'metrics.seriesOf1000AgentsMs', value: series.wallMs, goal: 500, better: 'lower' },
  ];
};

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
try {
  process.exitCode = report(await measure(dataDir)) ? 0 : 1;
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
