import { commonMetrics, findMetric, type MetricDescription, type MetricValue, plugins } from '@rushhour/contract';
import { isMainMetric } from './main-metric.ts';

type Better = MetricDescription['better'];

export interface ComparedMetric {
  metric: string;
  unit: string;
  base: number | null;
  target: number | null;
  delta: number | null;
  deltaPct: number | null;
  better: Better;
  significant: boolean;
}

export type ComparisonVerdict = 'better' | 'worse' | 'same' | 'mixed' | 'incomparable';

/** The compared statistics of each metric type; the first is the default. */
const statistics = {
  counter: ['rate'],
  gauge: ['avg'],
  histogram: ['p99', 'p50', 'avg'],
} as const satisfies Record<MetricValue['type'], readonly (keyof MetricValue)[]>;
const anyStatistic = ['sum', 'rate', 'count', 'min', 'max', 'avg', 'p50', 'p90', 'p95', 'p99', 'p999', 'last'] as const;
type Statistic = (typeof anyStatistic)[number];

const betterOf = (name: string): Better =>
  commonMetrics.find((metric) => metric.name === name)?.better ??
  plugins.map((plugin) => findMetric(plugin, name)?.better).find((better) => better !== undefined) ??
  'none';

interface Asked {
  /** As it is shown. */
  readonly label: string;
  readonly metric: string;
  readonly statistic: Statistic;
}

/** All metrics of both runs except percentiles. */
const defaultMetrics = (all: readonly MetricValue[]): Asked[] =>
  all.filter(isMainMetric).flatMap(({ metric, type }): Asked[] => {
    const labelOf = (statistic: Statistic) => (type === 'histogram' ? `${metric}.${statistic}` : metric);
    return statistics[type].map((statistic) => ({ label: labelOf(statistic), metric, statistic }));
  });

/** `http.latency` selects the default statistic, `http.latency.p95` a named one. Undefined if no run has it. */
const findAsked = (label: string, all: readonly MetricValue[]): Asked | undefined => {
  const named = all.find(({ metric }) => metric === label);
  if (named !== undefined) return { label, metric: label, statistic: statistics[named.type][0] };
  const [, stem = '', tail = ''] = /^(.+)\.([a-z0-9]+)$/.exec(label) ?? [];
  const statistic = anyStatistic.find((candidate) => candidate === tail);
  const isKnown = statistic !== undefined && all.some(({ metric }) => metric === stem);
  return isKnown ? { label, metric: stem, statistic } : undefined;
};

const allOf = (base: readonly MetricValue[], target: readonly MetricValue[]) => [
  ...base,
  ...target.filter(({ metric }) => !base.some((value) => value.metric === metric)),
];

/** The names without data in either run. */
export const unknownOf = (wanted: readonly string[], base: readonly MetricValue[], target: readonly MetricValue[]) =>
  wanted.filter((label) => findAsked(label, allOf(base, target)) === undefined);

/** The rate of a counter is per second. */
const unitOf = (unit: string, statistic: Statistic) => (statistic === 'rate' ? `${unit || '1'}/s` : unit);

const compared = (
  { label, metric, statistic }: Asked,
  [base, target]: readonly [readonly MetricValue[], readonly MetricValue[]],
  tolerancePct: number,
): ComparedMetric => {
  const [a, b] = [base, target].map((values) => values.find((value) => value.metric === metric));
  const [from, to] = [a, b].map((value) => value?.[statistic] ?? null) as [number | null, number | null];
  const delta = from === null || to === null ? null : to - from;
  const deltaPct = delta === null || from === null || from === 0 ? null : (delta / Math.abs(from)) * 100;
  // A change from 0 has no percentage.
  const isBeyond = deltaPct === null ? delta !== null && delta !== 0 : Math.abs(deltaPct) > tolerancePct;
  const unit = unitOf((a ?? b)?.unit ?? '', statistic);
  return {
    ...{ metric: label, unit, base: from, target: to, delta, deltaPct },
    better: betterOf(metric),
    significant: isBeyond,
  };
};

/** Compares the results of two runs. `wanted` names metrics; all relevant ones by default. */
export const compareMetrics = (
  base: readonly MetricValue[],
  target: readonly MetricValue[],
  { tolerancePct, wanted }: { tolerancePct: number; wanted?: readonly string[] | undefined },
): ComparedMetric[] => {
  const all = allOf(base, target);
  const asked = wanted?.flatMap((label) => findAsked(label, all) ?? []) ?? defaultMetrics(all);
  return asked.map((one) => compared(one, [base, target], tolerancePct));
};

/** Metrics of the generators say nothing about the device under test. */
const generatorMetrics: ReadonlySet<string> = new Set(['agentCpuPct', 'agentDrops', 'scheduleLagMs']);

const isOfGenerator = (metric: string) => generatorMetrics.has(metric) || metric.startsWith('agent.');

export const verdictOf = (metrics: readonly ComparedMetric[]): ComparisonVerdict => {
  const judged = metrics.filter(
    ({ metric, better, delta }) => better !== 'none' && delta !== null && !isOfGenerator(metric),
  );
  if (judged.length === 0) return 'incomparable';
  const isGain = ({ better, delta }: ComparedMetric) => (better === 'higher') === (delta ?? 0) > 0;
  const changed = judged.filter(({ significant }) => significant);
  const gains = changed.filter(isGain).length;
  if (changed.length === 0) return 'same';
  if (gains === changed.length) return 'better';
  return gains === 0 ? 'worse' : 'mixed';
};
