import type { MetricValue, RunResult } from '@rushhour/contract';
import { runStatus } from '../../runs/task-state.ts';
import { nameIn, verdicts } from './names.ts';

const mostFigures = 12;

const figureOf = ({ metric, unit, sum, rate, avg, p95, p99, last }: MetricValue) => ({
  metric,
  unit,
  ...Object.fromEntries(
    Object.entries({ sum, rate, avg, p95, p99, last }).filter(([, value]) => value !== undefined && value !== null),
  ),
});

/** What of a run a reader must know, in a few lines. */
export const reportOf = (taskId: number, result: RunResult) => ({
  taskId,
  runId: result.id,
  status: nameIn(runStatus, result.status),
  verdict: nameIn(verdicts, result.verdict),
  validity: result.validity,
  startedAt: result.startedAt,
  durationSec: result.durationSec,
  kpis: result.summary.map(({ plugin, role, configurationIndex, seconds, metrics }) => ({
    ...{ configurationIndex, plugin, role, seconds },
    figures: metrics.slice(0, mostFigures).map(figureOf),
  })),
  anomalies: [
    ...(result.error === '' ? [] : [{ kind: 'error', untrustedMessage: result.error }]),
    ...result.validity.reasons.map((reason) => ({ kind: 'validity', untrustedMessage: reason })),
    ...result.thresholds
      .filter(({ outcome }) => outcome === 'failed' || outcome === 'noData')
      .map(({ name, metric, aggregation, operator, value, actual, outcome }) => ({
        ...{ kind: 'threshold', name, outcome, actual, wanted: `${aggregation}(${metric}) ${operator} ${value}` },
      })),
  ],
  links: {
    results: `/v1/ai/gateway/tasks/${taskId}/results`,
    events: `/v1/ai/gateway/tasks/${taskId}/events`,
  },
});
type Report = ReturnType<typeof reportOf>;

const line = (name: string, value: unknown) =>
  value === null || value === undefined
    ? []
    : [`- ${name}: ${typeof value === 'object' ? JSON.stringify(value) : value}`];

export const markdownOf = (report: Report): string =>
  [
    `# Task ${report.taskId}, run ${report.runId}: ${report.verdict}`,
    ...line('Status', report.status),
    ...line('Valid', report.validity.valid),
    ...line('Started', report.startedAt),
    ...line('Seconds', report.durationSec),
    '',
    ...report.kpis.flatMap(({ plugin, role, configurationIndex, figures }) => [
      `## ${plugin} (${role}, entry ${configurationIndex})`,
      ...figures.map(({ metric, unit, ...values }) => `- ${metric} [${unit}]: ${JSON.stringify(values)}`),
      '',
    ]),
    ...(report.anomalies.length === 0
      ? []
      : ['## Anomalies', ...report.anomalies.map((a) => `- ${JSON.stringify(a)}`)]),
  ].join('\n');
