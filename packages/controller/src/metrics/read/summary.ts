import type { MetricValue, RunSummary } from '@rushhour/contract';
import type { Executor } from '../../store/engine/database.ts';
import { type AggregationWindow, TotalSpread } from '../ingest/aggregation-window.ts';
import { collectWindows } from '../ingest/collect.ts';
import type { OpenRun } from '../ingest/open-run.ts';
import { metricValueOf, secondsOf } from '../rollup/aggregate.ts';
import { isAlwaysReported, isReportedBy, type MetricPlan, metricsOfRun, planMetric } from './metric-plan.ts';
import type { Side } from './run-facts.ts';
import { readPhases } from './scan.ts';

const plansOf = ({ facts, names }: OpenRun, wanted: readonly string[] = metricsOfRun(names)): MetricPlan[] =>
  wanted.flatMap((name) => planMetric(name, facts, names) ?? []);

const valuesOf = (window: AggregationWindow<TotalSpread>, isReported: (plan: MetricPlan) => boolean): MetricValue[] =>
  window.plans.flatMap((plan, index) => {
    const track = window.trackOf(index);
    return isReported(plan) ? (metricValueOf(plan, secondsOf(plan, track), track.spread.sum) ?? []) : [];
  });

/** Of a part of a run only what it has ever spoken of. */
const isReportedFor =
  (sides: readonly Side[], { names }: OpenRun) =>
  (plan: MetricPlan) =>
    isAlwaysReported(plan.name) || isReportedBy(plan, sides, names);

/** Seconds of time the window covers. */
const lengthOf = (window: AggregationWindow<TotalSpread>) =>
  window.plans.reduce((longest, plan, index) => Math.max(longest, secondsOf(plan, window.trackOf(index)).spanSec), 0);

/** What each side of each entry came to: over its steady part, or over all where it has none. */
export const readSummary = async (read: Executor, run: OpenRun): Promise<RunSummary> => {
  await readPhases(read, run);
  const { facts, phases } = run;
  const steady = new Set(
    [...facts.sides.values()].filter((side) => phases.hasSteady([side])).map(({ group }) => group),
  );
  const summary: (RunSummary[number] & { group: number })[] = [];
  const options = {
    plans: plansOf(run),
    by: 'side',
    fromSec: 1,
    toSec: run.newestSecond,
    createSpread: () => new TotalSpread(),
    secondOf: (side: Side, second: number) =>
      steady.has(side.group) ? phases.steadySecond(side, second) : { second, countsTime: true },
  } as const;
  await collectWindows(read, run, options, ({ group }, window) => {
    const side = facts.sides.get(Number(group)) as Side;
    summary.push({
      group: side.group,
      configurationIndex: side.entry,
      pluginID: side.pluginId,
      plugin: side.plugin,
      role: side.role,
      window: steady.has(side.group) ? 'steady' : 'all',
      seconds: lengthOf(window),
      metrics: valuesOf(window, isReportedFor([side], run)),
    });
  });
  return summary.sort((a, b) => a.group - b.group).map(({ group: _, ...rest }) => rest);
};

export interface TotalsOf {
  /** One agent; all of them when left out. */
  readonly agentId?: number | undefined;
  /** Names; all metrics when left out. Unknown names are ignored. */
  readonly metrics?: readonly string[] | undefined;
}

/** What a run, or one agent in it, came to, all sides together: over the steady part, or over all if there is none. */
export const readTotals = async (
  read: Executor,
  run: OpenRun,
  { agentId, metrics }: TotalsOf,
): Promise<MetricValue[]> => {
  await readPhases(read, run);
  const { facts, phases } = run;
  const sides = agentId === undefined ? [...facts.sides.values()] : (facts.agents.get(agentId)?.sides ?? []);
  const isSteady = phases.hasSteady(sides);
  const isReported = agentId === undefined ? () => true : isReportedFor(sides, run);
  const totals: MetricValue[] = [];
  const options = {
    plans: plansOf(run, metrics),
    by: 'total',
    fromSec: 1,
    toSec: run.newestSecond,
    createSpread: () => new TotalSpread(),
    secondOf: (side: Side, second: number) =>
      isSteady ? phases.steadySecond(side, second) : { second, countsTime: true },
    agentId,
  } as const;
  await collectWindows(read, run, options, (_, window) => totals.push(...valuesOf(window, isReported)));
  return totals;
};

/** What each agent came to, as `readTotals` says of one: all of them in one pass over what they sent. */
export const readTotalsByAgent = async (read: Executor, run: OpenRun): Promise<Map<number, MetricValue[]>> => {
  await readPhases(read, run);
  const { facts, phases } = run;
  const steady = new Set([...facts.agents].filter(([, { sides }]) => phases.hasSteady(sides)).map(([id]) => id));
  const totals = new Map<number, MetricValue[]>();
  const options = {
    plans: plansOf(run),
    by: 'agent',
    fromSec: 1,
    toSec: run.newestSecond,
    createSpread: () => new TotalSpread(),
    secondOf: (side: Side, second: number, agentId: number) =>
      steady.has(agentId) ? phases.steadySecond(side, second) : { second, countsTime: true },
  } as const;
  await collectWindows(read, run, options, ({ agentID }, window) => {
    const id = Number(agentID);
    totals.set(id, valuesOf(window, isReportedFor(facts.agents.get(id)?.sides ?? [], run)));
  });
  return totals;
};
