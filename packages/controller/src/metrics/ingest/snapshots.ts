import type { MetricSnapshot } from '@rushhour/contract';
import type { Executor } from '../../store/engine/database.ts';
import type { MetricPlan } from '../read/metric-plan.ts';
import { timeOf } from '../read/run-facts.ts';
import { metricValueOf, secondsOf, secondValueOf } from '../rollup/aggregate.ts';
import { HistogramSum } from '../rollup/histogram-sum.ts';
import { type AggregationWindow, SteppedSpread } from './aggregation-window.ts';
import { type By, collectWindows, type Labels } from './collect.ts';
import type { OpenRun } from './open-run.ts';

export interface SnapshotRequest {
  readonly plans: readonly MetricPlan[];
  readonly by: By;
  readonly fromSec: number;
  readonly toSec: number;
}

/** What each second showed, oldest first; seconds of which nothing is known are left out. */
export const readSnapshots = async (
  read: Executor,
  run: OpenRun,
  { plans, by, fromSec, toSec }: SnapshotRequest,
): Promise<MetricSnapshot[]> => {
  const found: { labels: Labels; window: AggregationWindow<SteppedSpread> }[] = [];
  const createSpread = () => new SteppedSpread((second) => second - fromSec);
  await collectWindows(read, run, { plans, by, fromSec, toSec, createSpread, isLive: true }, (labels, window) => {
    found.push({ labels, window });
  });
  const sum = new HistogramSum();
  const metricsAt = (window: AggregationWindow<SteppedSpread>, at: number) =>
    plans.flatMap((plan, index) => {
      const track = window.trackOf(index);
      const bytes = track.spread.steps[at];
      sum.clear();
      if (bytes !== undefined) sum.add(bytes);
      const seconds = secondsOf(plan, track, [at, at + 1]);
      return (fromSec + at === 1 ? metricValueOf : secondValueOf)(plan, seconds, sum) ?? [];
    });
  return Array.from({ length: Math.max(0, toSec - fromSec + 1) }, (_, at) => ({
    runId: run.facts.runId,
    ts: new Date(timeOf(run.facts, fromSec + at)).toISOString(),
    seq: fromSec + at,
    values: found
      .map(({ labels, window }) => ({ labels, metrics: metricsAt(window, at) }))
      .filter(({ metrics }) => metrics.length > 0),
  })).filter(({ values }) => values.length > 0);
};
