import { type ConfigurationEntry, entriesOf, isTerminal, type MetricSeries } from '@rushhour/contract';
import type { Metrics } from '../../metrics/metrics.ts';
import type { SeriesSelection } from '../../metrics/read/run-reader.ts';
import { UnknownMetric } from '../../metrics/read/unknown-metric.ts';
import { chartOf, type ReportChart, type ReportData } from '../../metrics/report/report-data.ts';
import { readSecurityReport } from '../../security/verdicts/security-report.ts';
import type { Executor } from '../../store/engine/database.ts';
import { runEventsAfter } from '../../store/runs/run-history.ts';
import { readRunAgents } from './run-agents.ts';
import { readRunResult } from './run-detail.ts';
import type { FoundRun } from './run-record.ts';
import { eventOf } from './task-stream.ts';

interface Deps {
  read: Executor;
  metrics: Metrics;
}

const nothing: MetricSeries = { step: 1, t: [], series: [] };

/** A metric that the run lacks is omitted. */
const seriesOf = (metrics: Metrics, runId: number, metric: string, agg?: SeriesSelection['agg']) =>
  metrics.series(runId, { metrics: [metric], agg }).catch((error) => {
    if (error instanceof UnknownMetric) return nothing;
    throw error;
  });

const chartsOf = async ({ metrics }: Deps, { id, definition }: FoundRun): Promise<ReportChart[]> => {
  const line = async (label: string, metric: string, agg?: SeriesSelection['agg']) =>
    [label, await seriesOf(metrics, id, metric, agg)] as const;
  const names = entriesOf(definition.configuration as ConfigurationEntry[]).flatMap(({ plugin }) => plugin?.name ?? []);
  const latency = [...new Set(names)].map(async (name) =>
    chartOf(`Latency, ${name}`, 'us', [
      await line('p50', `${name}.latency`, 'p50'),
      await line('p95', `${name}.latency`, 'p95'),
      await line('p99', `${name}.latency`, 'p99'),
      await line('max', `${name}.latency`, 'max'),
    ]),
  );
  return [
    chartOf('Load', '/s', [await line('reached', 'achievedLoad'), await line('wanted', 'targetLoad')]),
    ...(await Promise.all(latency)),
    chartOf('Throughput', 'bit/s', [await line('sent', 'txBps'), await line('received', 'rxBps')]),
    chartOf('Errors', '/s', [await line('errors', 'errors')]),
    chartOf('Processors of the agents', '%', [await line('CPU', 'agentCpuPct')]),
  ];
};

/** Collects the data of a report; of a brief one only what the run came to, without its agents, events and charts. */
export const readReportData = async (
  deps: Deps,
  comment: string,
  run: FoundRun,
  { isBrief = false } = {},
): Promise<ReportData> => {
  const { read } = deps;
  const result = await readRunResult(deps, run, true);
  return {
    title: comment || `Task ${run.taskID}`,
    generatedAt: new Date().toISOString(),
    isPartial: !isTerminal(run.status),
    run: result,
    agents: isBrief ? [] : await readRunAgents(deps, run.id),
    events: isBrief ? [] : (await runEventsAfter(read, run.id, 0)).map(eventOf),
    charts: isBrief ? [] : await chartsOf(deps, run),
    security: (await readSecurityReport(read, run, result.thresholds)) ?? null,
  };
};
