import type { MetricValue, Threshold } from '@rushhour/contract';
import type { Track } from '../ingest/aggregation-window.ts';
import type { MetricPlan } from '../read/metric-plan.ts';
import type { HistogramSum } from './histogram-sum.ts';
import type { Step } from './packed-steps.ts';

export type Aggregation = Threshold['aggregation'];

const fractions = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 } as const;
type Percentile = keyof typeof fractions;
const isPercentile = (aggregation: string): aggregation is Percentile => aggregation in fractions;

/** What was counted or stood in each second that was seen, and how long all of them were together. */
export interface Seconds {
  /** In each second: amounts and rates as rates, levels as they stood. */
  readonly values: readonly number[];
  readonly sum: number;
  readonly spanSec: number;
}

/** The rate of a shorter second is that of a moment: it counts together with the second before. */
export const minSpanSec = 0.5;

/** The part of a track from one place to another; silence of what is counted is 0. */
export const secondsOf = (
  { kind, scale }: MetricPlan,
  { spans, values }: Pick<Track, 'spans' | 'values'>,
  [from, to]: readonly [number, number] = [0, spans.length],
): Seconds => {
  const found: number[] = [];
  let sum = 0;
  let spanSec = 0;
  let last = { amount: 0, span: 0 };
  for (let at = from; at < to; at += 1) {
    const span = spans[at];
    const value = kind === 'level' ? values[at] : (values[at] ?? 0);
    if (span === undefined || value === undefined) continue;
    sum += value * scale;
    spanSec += span;
    if (kind === 'level') found.push(value);
    else if (span >= minSpanSec || found.length === 0) {
      found.push((value * scale) / span);
      last = { amount: value * scale, span };
    } else {
      last = { amount: last.amount + value * scale, span: last.span + span };
      found[found.length - 1] = last.amount / last.span;
    }
  }
  return { values: found.filter((value) => Number.isFinite(value)), sum, spanSec };
};

const spreadValue = (sum: HistogramSum, aggregation: Aggregation, spanSec: number): number | undefined => {
  if (aggregation === 'count') return sum.count > 0 || spanSec > 0 ? sum.count : undefined;
  if (aggregation === 'rate') return spanSec > 0 ? sum.count / spanSec : undefined;
  if (sum.count === 0) return undefined;
  if (isPercentile(aggregation)) return sum.quantile(fractions[aggregation]);
  return aggregation === 'last' ? undefined : sum[aggregation];
};

const quantileOf = (values: readonly number[], fraction: number) =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(fraction * values.length) - 1)];

const averageOf = ({ kind }: MetricPlan, { values, sum, spanSec }: Seconds) =>
  kind === 'level' ? values.reduce((total, value) => total + value, 0) / values.length : sum / spanSec;

/** One number for many seconds; undefined when there is none. */
const scalarValue = (plan: MetricPlan, seconds: Seconds, aggregation: Aggregation): number | undefined => {
  const { values, sum } = seconds;
  if (values.length === 0) return undefined;
  if (isPercentile(aggregation)) return quantileOf(values, fractions[aggregation]);
  switch (aggregation) {
    case 'sum':
    case 'count':
      return plan.kind === 'amount' ? sum : averageOf(plan, seconds);
    case 'rate':
    case 'avg':
      return averageOf(plan, seconds);
    case 'min':
      return values.reduce((min, value) => Math.min(min, value), Number.POSITIVE_INFINITY);
    case 'max':
      return values.reduce((max, value) => Math.max(max, value), Number.NEGATIVE_INFINITY);
    case 'last':
      return values.at(-1);
  }
};

/** One number for what was seen of a metric, whatever its kind. */
export const aggregateOf = (
  plan: MetricPlan,
  seconds: Seconds,
  sum: HistogramSum,
  aggregation: Aggregation,
): number | undefined =>
  plan.kind === 'spread' ? spreadValue(sum, aggregation, seconds.spanSec) : scalarValue(plan, seconds, aggregation);

/** One number for some steps of time, as `aggregateOf` says of their seconds; undefined when there is none. */
export const aggregateOfSteps = (
  plan: MetricPlan,
  steps: readonly Step[],
  single: HistogramSum,
  aggregation: Aggregation,
): number | undefined => {
  const measured = steps.filter(({ count }) => count > 0);
  const spanSec = steps.reduce((total, step) => total + step.spanSec, 0);
  if (plan.kind === 'spread') return spanSec === 0 ? undefined : spreadValue(single, aggregation, spanSec);
  if (measured.length === 0) return undefined;
  const sum = measured.reduce((total, step) => total + step.sum, 0);
  const count = measured.reduce((total, step) => total + step.count, 0);
  switch (aggregation) {
    case 'min':
      return measured.reduce((min, step) => Math.min(min, step.min), Number.POSITIVE_INFINITY);
    case 'max':
      return measured.reduce((max, step) => Math.max(max, step.max), Number.NEGATIVE_INFINITY);
    case 'last':
      return measured.at(-1)?.last;
    case 'sum':
    case 'count':
      if (plan.kind === 'amount') return sum;
  }
  return plan.kind === 'level' ? sum / count : sum / spanSec;
};

export const defaultAggregation = ({ kind }: MetricPlan): Aggregation =>
  (({ amount: 'rate', rate: 'avg', level: 'avg', spread: 'p99' }) as const)[kind];

const reported: Readonly<Record<MetricPlan['kind'], readonly Aggregation[]>> = {
  amount: ['sum', 'rate'],
  rate: ['avg', 'min', 'max', 'last'],
  level: ['avg', 'min', 'max', 'last'],
  spread: ['count', 'min', 'max', 'avg', 'p50', 'p90', 'p95', 'p99', 'p999'],
};

/** Everything worth saying of one second. One that is too short for a rate has amounts only. */
export const secondValueOf = (plan: MetricPlan, seconds: Seconds, sum: HistogramSum): MetricValue | undefined => {
  const isShort = seconds.spanSec < minSpanSec && (plan.kind === 'rate' || plan.kind === 'amount');
  if (isShort && plan.kind === 'rate') return undefined;
  const value = metricValueOf(plan, seconds, sum);
  return isShort && value !== undefined ? { ...value, rate: null } : value;
};

/** Everything worth saying of a metric over some seconds; undefined when nothing was seen of it. */
export const metricValueOf = (plan: MetricPlan, seconds: Seconds, sum: HistogramSum): MetricValue | undefined => {
  const { name: metric, unit, type } = plan.description;
  const isEmpty = plan.kind === 'spread' ? sum.count === 0 : seconds.values.length === 0;
  if (isEmpty) return undefined;
  const values = reported[plan.kind].map((aggregation) => [
    aggregation,
    aggregateOf(plan, seconds, sum, aggregation) ?? null,
  ]);
  return { metric, unit, type, ...Object.fromEntries(values) };
};
