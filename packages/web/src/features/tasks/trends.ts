import type { MetricValue, RunResult } from '@rushhour/contract';
import { text } from '../../lib/text.ts';
import { duration, howMany, scaled } from '../../lib/units.ts';
import { deviceNameOf } from './run/topology/run-device.ts';

const { trends: words } = text;

interface Point {
  readonly runId: number;
  readonly number: number;
  readonly value: number;
  readonly verdict: number;
  readonly device: string;
}

/** One number over several runs, oldest first. */
export interface Trend {
  readonly label: string;
  readonly format: (value: number) => string;
  readonly points: readonly Point[];
}

/** A run of any task: its verdict, device and main metrics. */
type Measured = Pick<RunResult, 'id' | 'number' | 'verdict' | 'labels' | 'summary'>;

type Read = (metrics: readonly MetricValue[]) => number | null | undefined;

const clientMetrics = ({ summary }: Measured) =>
  summary.filter(({ role }) => role === 'client').flatMap(({ metrics }) => metrics);
const find = (metrics: readonly MetricValue[], isWanted: (name: string) => boolean) =>
  metrics.find(({ metric }) => isWanted(metric));
const sumOf = (metrics: readonly MetricValue[], name: string) =>
  metrics.filter(({ metric }) => metric.endsWith(`.${name}`)).reduce((sum, one) => sum + (one.sum ?? 0), 0);

const isLatency = (name: string) => /\.(latency|rtt|handshake|page|exchange)$/.test(name);
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

const blockRateOf: Read = (metrics) => {
  const [blocked, passed] = [sumOf(metrics, 'blocked'), sumOf(metrics, 'passed')];
  return blocked + passed === 0 ? null : blocked / (blocked + passed);
};

const kinds: readonly [string, (value: number) => string, Read][] = [
  [words.blockRate, percent, blockRateOf],
  [words.load, (value) => scaled(value, '/s'), (all) => find(all, (name) => name === 'achievedLoad')?.avg],
  [text.run.kpis.p95, duration, (all) => find(all, isLatency)?.p95],
  [words.errors, howMany, (all) => find(all, (name) => name === 'errors')?.sum],
];

/** The numbers that at least two runs have, and that are not always zero; a block rate of zero says much. */
export const trendsOf = (results: readonly Measured[]): Trend[] =>
  kinds
    .map(([label, format, read]) => ({
      label,
      format,
      points: results.flatMap((result) => {
        const value = read(clientMetrics(result));
        const { id: runId, number, verdict, labels } = result;
        return typeof value === 'number' ? [{ runId, number, value, verdict, device: deviceNameOf(labels) }] : [];
      }),
    }))
    .filter(
      ({ label, points }) =>
        points.length > 1 && (label === words.blockRate || points.some(({ value }) => value !== 0)),
    );
