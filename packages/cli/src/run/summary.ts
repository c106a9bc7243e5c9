import type { MetricValue, RunResult, ThresholdResult } from '@rushhour/contract';
import { aligned } from '../output/table.ts';

type Maybe = number | null | undefined;

const isTime = (unit: string) => unit === 'us' || unit === 'µs';

/** A number with three significant digits, or whole. */
const plain = (value: number) =>
  Math.abs(value) >= 100 || Number.isInteger(value)
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)));

/** A value in the unit of its metric; durations in the unit that reads best. */
export const valueText = (value: Maybe, unit: string): string => {
  if (value === null || value === undefined) return '–';
  if (!isTime(unit)) return plain(value);
  if (Math.abs(value) >= 1e6) return `${plain(value / 1e6)} s`;
  return Math.abs(value) >= 1000 ? `${plain(value / 1000)} ms` : `${plain(value)} µs`;
};

const isMain = ({ metric }: MetricValue) => !metric.startsWith('agent.') && metric.split('.').length <= 2;

const metricText = ({ type, unit, sum, rate, last, avg, min, p50, p95, p99, max }: MetricValue): string => {
  if (type === 'counter') return `${valueText(sum, unit)} (${valueText(rate, unit)}/s)`;
  if (type === 'gauge') return `${valueText(avg ?? last, unit)} (${valueText(min, unit)} to ${valueText(max, unit)})`;
  const shown = { avg, p50, p95, p99, max };
  return Object.entries(shown)
    .map(([name, value]) => `${name} ${valueText(value, unit)}`)
    .join('  ');
};

/** The latest second in one line: what is counted most, a latency, errors. */
export const liveText = (metrics: readonly MetricValue[]): string => {
  const main = metrics.filter(isMain);
  const counters = main.filter(
    ({ type, metric, unit }) =>
      type === 'counter' && !/(^|\.)(errors|begun|ok)$|[bB]ytes$/.test(metric) && unit !== 'B',
  );
  const busiest = counters.reduce<MetricValue | undefined>(
    (a, b) => ((b.rate ?? 0) > (a?.rate ?? 0) ? b : a),
    undefined,
  );
  const times = main.filter(({ type, unit }) => type === 'histogram' && isTime(unit));
  const latency = times.find(({ metric }) => metric.endsWith('.latency')) ?? times[0];
  const errors = main.find(({ metric }) => metric === 'errors');
  return [
    ...(busiest ? [`${busiest.metric} ${valueText(busiest.rate, '')}/s`] : []),
    ...(latency ? [`${latency.metric} p99 ${valueText(latency.p99, latency.unit)}`] : []),
    ...(errors ? [`errors ${valueText(errors.sum, '')}`] : []),
  ].join('  ');
};

const marks: Readonly<Record<string, string>> = { passed: '✓', failed: '✗', noData: '?', pending: '…' };

const unitsOf = ({ summary }: RunResult) =>
  new Map(summary.flatMap(({ metrics }) => metrics.map(({ metric, unit }) => [metric, unit] as const)));

/** Counts of a metric of time are no times. */
const thresholdText = (result: ThresholdResult, unit: string) => {
  const { aggregation, metric, operator, value, actual, outcome, severity } = result;
  const measured = aggregation === 'count' || aggregation === 'rate' ? '' : unit;
  const shown = actual === null ? 'no data' : valueText(actual, measured);
  const note = severity === 'warn' ? ' (warning only)' : '';
  return `  ${marks[outcome] ?? ' '} ${aggregation}(${metric}) ${operator} ${valueText(value, measured)}: ${shown}${note}`;
};

const verdicts = ['none: there are no thresholds', 'passed', 'failed', 'inconclusive'];
const statuses: Readonly<Record<number, string>> = { 7: 'finished', 8: 'stopped', 9: 'failed' };

/** The result of a run for people. */
export const summaryText = (run: RunResult, url: string): string => {
  const units = unitsOf(run);
  const sides = run.summary.flatMap((side) => [
    `${side.plugin} ${side.role}, ${Math.round(side.seconds)} s${side.window === 'steady' ? ' of steady load' : ''}`,
    aligned(side.metrics.filter(isMain).map((value) => [`  ${value.metric}`, metricText(value)])),
    '',
  ]);
  const reason = run.stopReason && run.stopReason !== 'duration' ? ` (${run.stopReason})` : '';
  return [
    ...sides,
    ...(run.thresholds.length > 0 ? ['thresholds'] : []),
    ...run.thresholds.map((result) => thresholdText(result, units.get(result.metric) ?? '')),
    ...(run.thresholds.length > 0 ? [''] : []),
    `status    ${statuses[run.status] ?? run.status}${reason}${run.error ? `: ${run.error}` : ''}`,
    `verdict   ${verdicts[run.verdict] ?? run.verdict}`,
    `validity  ${run.validity.valid ? 'valid' : 'doubtful'}${run.validity.reasons.map((text) => `\n  - ${text}`).join('')}`,
    `details   ${url}/tasks/${run.taskID}/runs/${run.id}`,
  ].join('\n');
};
