import type { MetricValue, RunResult } from '@rushhour/contract';
import { text } from '../../../lib/text.ts';
import { clock, duration, howMany, scaled } from '../../../lib/units.ts';
import type { RunSeries } from '../charts/run-series.ts';
import type { SessionStep } from '../charts/session-steps.ts';

const { run } = text;

/** A number of a run at a glance. */
export interface Kpi {
  readonly label: string;
  readonly value: string;
  readonly note?: string;
  readonly tone?: 'good' | 'bad';
}

type Summary = RunResult['summary'];

const clientMetrics = (summary: Summary): MetricValue[] =>
  summary.filter(({ role }) => role === 'client').flatMap(({ metrics }) => metrics);

const sumOf = (metrics: readonly MetricValue[], isWanted: (metric: string) => boolean): number =>
  metrics.filter(({ metric }) => isWanted(metric)).reduce((sum, one) => sum + (one.sum ?? 0), 0);

const named = (name: string) => (metric: string) => metric === name;
const outcome = (name: string) => (metric: string) => metric.split('.')[1] === name;
const percent = (part: number, whole: number) => (whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)} %`);
const newest = ({ values }: RunSeries, key: string) => values[key]?.findLast((value) => value !== null) ?? null;

const averageOf = (metrics: readonly MetricValue[], name: string): number | null => {
  const found = metrics.filter(({ metric, avg }) => metric === name && typeof avg === 'number');
  return found.length === 0 ? null : found.reduce((sum, { avg }) => sum + (avg ?? 0), 0);
};

interface Traffic {
  readonly series: RunSeries;
  readonly latency: string;
  readonly result: Pick<RunResult, 'summary' | 'durationSec'> | undefined;
}

/** Load, latency, errors and throughput: of the whole run, or of the newest second while it is active. */
export const trafficKpis = ({ series, latency, result }: Traffic): Kpi[] => {
  const metrics = clientMetrics(result?.summary ?? []);
  const mean = (key: string) => (result ? averageOf(metrics, key) : newest(series, key));
  const [actual, target] = [mean('achievedLoad'), mean('targetLoad') ?? newest(series, 'targetLoad')];
  const whole = metrics.find(({ metric }) => metric === latency)?.p95 ?? null;
  const p95 = result ? whole : newest(series, `${latency}:p95`);
  const throughput = [mean('txBps'), mean('rxBps')];
  return [
    ...(actual === null ? [] : [loadKpi(actual, target)]),
    ...(p95 === null ? [] : [{ label: run.kpis.p95, value: duration(p95), note: latency }]),
    ...(metrics.length > 0 || newest(series, 'errors') !== null ? [errorsKpi(metrics, series)] : []),
    ...(throughput.some((value) => value !== null && value > 0)
      ? [
          {
            label: run.throughput,
            value: scaled(throughput[0], 'bit/s'),
            note: run.kpis.received(scaled(throughput[1], 'bit/s')),
          },
        ]
      : []),
    ...(result?.durationSec ? [{ label: run.kpis.duration, value: clock(result.durationSec) }] : []),
  ];
};

/** Less of the target than this is worth a look. */
const goodShare = 0.98;

const loadKpi = (actual: number, target: number | null): Kpi => ({
  label: run.kpis.load,
  value: scaled(actual, '/s'),
  ...(target !== null && target > 0
    ? { note: run.kpis.ofTarget(scaled(target, '/s')), tone: actual < target * goodShare ? 'bad' : 'good' }
    : {}),
});

const errorsKpi = (metrics: readonly MetricValue[], series: RunSeries): Kpi => {
  if (metrics.length === 0) return { label: run.errors, value: scaled(newest(series, 'errors'), '/s') };
  const errors = sumOf(metrics, named('errors'));
  const good = sumOf(metrics, outcome('ok')) || sumOf(metrics, outcome('requests'));
  return {
    label: run.errors,
    value: howMany(errors),
    ...(good > 0 && { note: percent(errors, good + errors) }),
    tone: errors === 0 ? 'good' : 'bad',
  };
};

/** Attempts of a security run by outcome. */
export const securityKpis = (summary: Summary): Kpi[] => {
  const metrics = clientMetrics(summary);
  const count = (name: string) => sumOf(metrics, outcome(name));
  const [sent, blocked, passed, benign] = [count('sent'), count('blocked'), count('passed'), count('benign')];
  const [wrong, unclear] = [count('falsePositives'), count('inconclusive')];
  return [
    { label: run.kpis.attempts, value: howMany(sent + benign), note: run.kpis.attacks(howMany(sent), howMany(benign)) },
    {
      label: text.security.blockRate,
      value: percent(blocked, blocked + passed),
      note: run.kpis.blocked(howMany(blocked)),
    },
    { label: text.security.judgements.bypassed, value: howMany(passed), tone: passed > 0 ? 'bad' : 'good' },
    {
      label: run.kpis.falsePositives,
      value: howMany(wrong),
      note: percent(wrong, benign),
      tone: wrong > 0 ? 'bad' : 'good',
    },
    ...(unclear > 0 ? [{ label: text.security.judgements.inconclusive, value: howMany(unclear) }] : []),
  ];
};

const upStates = ['up', 'established', 'full', 'bound', 'open', 'installed', 'active'];

const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

/** All and those that are up. The table of sessions has both ends of each: sessions are counted by their steps. */
const countsOf = ({ name, rows, states }: Table, steps: readonly SessionStep[]): readonly [all: number, up: number] => {
  const sessions = name === 'sessions' ? total(steps.map(({ count }) => count)) : 0;
  if (sessions > 0) return [sessions, total(steps.flatMap(({ kind, count }) => (kind === 'up' ? count : [])))];
  const up = Object.entries(states).filter(([state]) => upStates.includes(state.toLowerCase()));
  return [rows, total(up.map(([, count]) => count))];
};

type Table = NonNullable<RunResult['tables']>[number];

/** Sessions, routes and tunnels of a run, and how many of them are up. */
export const planeKpis = (tables: readonly Table[] = [], steps: readonly SessionStep[] = []): Kpi[] =>
  tables
    .filter(({ rows }) => rows > 0)
    .map((table) => {
      const [all, up] = countsOf(table, steps);
      return {
        label: text.rows.tables[table.name],
        value: howMany(all),
        ...(up > 0 && { note: run.kpis.up(howMany(up)), ...(up === all && { tone: 'good' as const }) }),
      };
    });

/** The best throughput and the latency of RFC 2544 trials. */
export const rfc2544Kpis = (rows: RunResult['rfc2544'] = []): Kpi[] => {
  const best = rows
    .filter(({ throughput }) => throughput !== undefined)
    .sort((a, b) => (b.throughput?.bps ?? 0) - (a.throughput?.bps ?? 0))[0];
  const lowest = rows.flatMap(({ latency }) => latency ?? []).sort((a, b) => a.avgUs - b.avgUs)[0];
  return [
    ...(best?.throughput
      ? [
          {
            label: run.kpis.bestThroughput,
            value: scaled(best.throughput.bps, 'bit/s'),
            note: run.kpis.frames(best.frameSize),
          },
        ]
      : []),
    ...(lowest ? [{ label: run.kpis.latency, value: duration(lowest.avgUs) }] : []),
  ];
};
