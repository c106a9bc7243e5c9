import type { MetricValue, RunResult } from '@rushhour/contract';
import { runStatus, verdicts } from '@rushhour/contract';
import { nameIn } from './names.ts';

const maxValues = 24;
const minValues = 1;

/** Counts stay exact; what was measured has four digits, more than its accuracy. */
const rounded = (value: number) => (Number.isInteger(value) ? value : Number(value.toPrecision(4)));

const reportedValue = ({ metric, unit, sum, rate, avg, p95, p99, last }: MetricValue) => ({
  metric,
  unit,
  ...Object.fromEntries(
    Object.entries({ sum, rate, avg, p95, p99, last }).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, rounded(value)]],
    ),
  ),
});

/** Counters that stayed 0 are omitted; traffic metrics come before machine metrics. */
const telling = (metrics: readonly MetricValue[]) => {
  const moved = metrics.filter(({ type, sum }) => type !== 'counter' || Boolean(sum));
  const isOfTraffic = ({ metric }: MetricValue) => metric.includes('.');
  return [...moved.filter(isOfTraffic), ...moved.filter((metric) => !isOfTraffic(metric))];
};

const reportWith = (taskId: number, result: RunResult, max: number) => ({
  taskId,
  runId: result.id,
  status: nameIn(runStatus, result.status),
  verdict: nameIn(verdicts, result.verdict),
  validity: result.validity,
  startedAt: result.startedAt,
  durationSec: result.durationSec,
  kpis: result.summary.map(({ plugin, role, configurationIndex, seconds, metrics }) => ({
    ...{ configurationIndex, plugin, role, seconds },
    figures: telling(metrics).slice(0, max).map(reportedValue),
  })),
  anomalies: [
    ...(result.error === '' ? [] : [{ kind: 'error', untrustedMessage: result.error }]),
    ...result.validity.reasons.map((reason) => ({ kind: 'validity', untrustedMessage: reason })),
    ...result.thresholds
      .filter(({ outcome }) => outcome === 'failed' || outcome === 'noData')
      .map(({ name, metric, aggregation, operator, value, actual, outcome }) => ({
        ...{ kind: 'threshold', name, outcome, actual: actual === null ? null : rounded(actual) },
        wanted: `${aggregation}(${metric}) ${operator} ${value}`,
      })),
  ],
  ...(result.summary.some(({ metrics }) => telling(metrics).length > max) && { truncated: true }),
  links: {
    results: `/v1/ai/gateway/tasks/${taskId}/results`,
    events: `/v1/ai/gateway/tasks/${taskId}/events`,
  },
});
type Report = ReturnType<typeof reportWith>;

/** The essential results of a run: as many metrics as fit. */
export const reportOf = (taskId: number, result: RunResult, maxChars: number): Report => {
  let max = maxValues;
  let report = reportWith(taskId, result, max);
  while (JSON.stringify(report).length > maxChars && max > minValues) {
    max = Math.max(minValues, Math.floor(max / 2));
    report = reportWith(taskId, result, max);
  }
  return report;
};

const line = (name: string, value: string | number | boolean | null) => (value === null ? [] : [`- ${name}: ${value}`]);

/** On one line, whatever a message of an agent contains. */
const factsOf = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${String(value).replace(/\s+/g, ' ')}`)
    .join(', ');

const linesOf = (report: Report): string[] => [
  `# Task ${report.taskId}, run ${report.runId}: ${report.verdict}`,
  ...line('Status', report.status),
  ...line('Valid', report.validity.valid),
  ...line('Started', report.startedAt),
  ...line('Seconds', report.durationSec),
  '',
  ...report.kpis.flatMap(({ plugin, role, configurationIndex, figures }) => [
    `## ${plugin} (${role}, entry ${configurationIndex})`,
    ...figures.map(
      ({ metric, unit, ...values }) => `- ${metric}${unit === '' ? '' : ` [${unit}]`}: ${factsOf(values)}`,
    ),
    '',
  ]),
  ...(report.anomalies.length === 0
    ? []
    : ['## Anomalies', ...report.anomalies.map(({ kind, ...facts }) => `- ${kind}: ${factsOf(facts)}`)]),
];

/** As many whole lines as fit. */
export const markdownOf = (report: Report, maxChars: number) => {
  const lines = linesOf(report);
  let length = 0;
  const fitting = lines.findIndex((text) => {
    length += text.length + 1;
    return length > maxChars;
  });
  const isCut = fitting !== -1;
  const markdown = (isCut ? lines.slice(0, fitting) : lines).join('\n');
  return { markdown, ...((isCut || report.truncated) && { truncated: true }) };
};
