import type { MetricSeries } from '@rushhour/contract';
import type { Executor } from '../../store/engine/database.ts';
import { type AggregationWindow, SteppedSpread } from '../ingest/aggregation-window.ts';
import { type By, collectWindows } from '../ingest/collect.ts';
import type { OpenRun } from '../ingest/open-run.ts';
import { type Aggregation, aggregateOf, defaultAggregation, minSpanSec, secondsOf } from '../rollup/aggregate.ts';
import { HistogramSum } from '../rollup/histogram-sum.ts';
import { bandLines } from './band-lines.ts';
import type { MetricPlan } from './metric-plan.ts';
import { timeOf } from './run-facts.ts';

export interface SeriesRequest {
  readonly plans: readonly MetricPlan[];
  readonly by: By;
  /** Seconds since the common start, both included. */
  readonly fromSec: number;
  readonly toSec: number;
  /** Seconds; made larger where there would be too many points. */
  readonly step?: number | undefined;
  readonly agg?: Aggregation | undefined;
  /** Histograms as counts by bands of values. */
  readonly bands?: boolean | undefined;
}

const maxPoints = 2000;
/** A heat map has many lines. */
const maxPointsOfBands = 300;
/** Of all lines together. */
const maxValues = 500_000;

const fitting: Readonly<Record<MetricPlan['kind'], ReadonlySet<Aggregation>>> = {
  amount: new Set(['sum', 'rate', 'avg', 'min', 'max', 'count', 'last']),
  rate: new Set(['rate', 'avg', 'min', 'max', 'last']),
  level: new Set(['avg', 'min', 'max', 'last']),
  spread: new Set(['sum', 'rate', 'avg', 'min', 'max', 'count', 'p50', 'p90', 'p95', 'p99', 'p999']),
};

/** What was asked for, where it has a meaning for the metric. */
export const aggregationFor = (plan: MetricPlan, agg: Aggregation | undefined) =>
  agg !== undefined && fitting[plan.kind].has(agg) ? agg : defaultAggregation(plan);

/** At least what was asked for, and so long that there are not too many points. */
export const stepFor = ({ fromSec, toSec, step = 1, plans, by, bands = false }: SeriesRequest, run: OpenRun) => {
  const lines = plans.length * (by === 'agent' ? Math.max(1, run.facts.agents.size) : 1);
  const limit = bands ? maxPointsOfBands : maxPoints;
  const points = Math.max(1, Math.min(limit, Math.floor(maxValues / lines)));
  return Math.max(step, Math.ceil((toSec - fromSec + 1) / points));
};

const isSum = (plan: MetricPlan, agg: Aggregation | undefined) => {
  const aggregation = aggregationFor(plan, agg);
  return aggregation === 'sum' || aggregation === 'count';
};

/**
 * Where the points end. A run ends with a part of a second, whose rates are those of a moment: it has no point of its
 * own, and its single values belong to the last point before it. Sums stay where they were counted.
 */
const endOf = (
  spans: readonly (number | undefined)[],
  { points, step, isSum }: { points: number; step: number; isSum: boolean },
): number => {
  const spanOf = (point: number) =>
    spans.slice(point * step, (point + 1) * step).reduce<number>((sum, span) => sum + (span ?? 0), 0);
  let end = points;
  while (!isSum && end > 1 && spanOf(end - 1) < minSpanSec) end -= 1;
  return end > 1 || spanOf(0) >= minSpanSec ? end : points;
};

/** Points of time are ends of steps; a point is null where nothing was measured. */
export const readSeries = async (read: Executor, run: OpenRun, request: SeriesRequest): Promise<MetricSeries> => {
  const { plans, by, fromSec, toSec, agg, bands = false } = request;
  const step = stepFor(request, run);
  const points = Math.max(0, Math.ceil((toSec - fromSec + 1) / step));
  const series: MetricSeries['series'] = [];
  const scratch = new HistogramSum();
  const pointOf = (
    window: AggregationWindow<SteppedSpread>,
    index: number,
    [point, end]: readonly [number, number],
  ) => {
    const plan = plans[index] as MetricPlan;
    const track = window.trackOf(index);
    const seconds = secondsOf(plan, track, [point * step, (point + 1) * step]);
    scratch.clear();
    for (const bytes of track.spread.steps.slice(point, end)) if (bytes !== undefined) scratch.add(bytes);
    if (plan.kind === 'spread' && seconds.spanSec === 0) return null;
    return aggregateOf(plan, seconds, scratch, aggregationFor(plan, agg)) ?? null;
  };
  const createSpread = () => new SteppedSpread((second) => Math.floor((second - fromSec) / step));
  await collectWindows(read, run, { plans, by, fromSec, toSec, createSpread }, (labels, window) => {
    for (const [index, plan] of plans.entries()) {
      if (bands && plan.kind === 'spread') {
        series.push(...bandLines({ metric: plan.name, labels }, window.trackOf(index).spread.steps, points));
        continue;
      }
      const end = endOf(window.trackOf(index).spans, { points, step, isSum: isSum(plan, agg) });
      const values = Array.from({ length: points }, (_, point) => {
        if (point >= end) return null;
        return pointOf(window, index, [point, point === end - 1 ? points : point + 1]);
      });
      if (values.some((value) => value !== null)) series.push({ metric: plan.name, labels, values });
    }
  });
  const t = Array.from({ length: points }, (_, point) =>
    timeOf(run.facts, Math.min(toSec, fromSec + (point + 1) * step - 1)),
  );
  return { step, t, series };
};
