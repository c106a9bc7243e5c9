import type { MetricSnapshot, MetricValue } from '@rushhour/contract';
import { startTransition, useCallback, useEffect, useState } from 'react';
import { client } from '../../../lib/client.ts';

/** The data of the charts of a run, one point per second. */
export interface RunSeries {
  /** Unix time in milliseconds. */
  readonly t: readonly number[];
  /** By `metric` or `metric:aggregation`, such as `achievedLoad` or `http.latency:p99`. */
  readonly values: Readonly<Record<string, readonly (number | null)[]>>;
}

export const percentiles = ['p50', 'p95', 'p99', 'max'] as const;
const loads = ['achievedLoad', 'targetLoad', 'errors', 'txBps', 'rxBps'];
/** With more points the series is read again: the controller then returns fewer. */
const maxPoints = 4000;

export const emptySeries: RunSeries = { t: [], values: {} };

/** Errors by kind, such as `http.errors.timeout`. */
export const isErrorKind = (metric: string) => /^[^.]+\.errors\./.test(metric);

const packetPlugins = ['stream', 'udp', 'icmp', 'pcap-replay', 'convergence'];
const attemptOutcomes = ['blocked', 'passed', 'inconclusive', 'falsePositives'];

/** Packets sent and received, such as `udp.sent`. */
export const isPacketCount = (metric: string) => {
  const [plugin = '', name = ''] = metric.split('.');
  return packetPlugins.includes(plugin) && (name === 'sent' || name === 'received');
};

/** Attempts by outcome, such as `waf.blocked`. */
export const isAttemptCount = (metric: string) => attemptOutcomes.includes(metric.split('.')[1] ?? '');

const isCharted = (metric: string) => isErrorKind(metric) || isPacketCount(metric) || isAttemptCount(metric);

/** Reads the stored series; `add` appends live snapshots. */
export const useRunSeries = (taskId: number, runId: number | null, latency: string) => {
  const [series, setSeries] = useState<RunSeries>(emptySeries);
  const reload = useCallback(async () => {
    if (runId === null) return;
    const loaded = await loadSeries(taskId, runId, latency);
    startTransition(() => setSeries(loaded));
  }, [taskId, runId, latency]);
  useEffect(() => {
    setSeries(emptySeries);
    void reload().catch(() => {});
  }, [reload]);
  const add = useCallback(
    (snapshot: MetricSnapshot) => {
      // New seconds may wait for what the user does.
      if (snapshot.runId === runId) startTransition(() => setSeries((known) => appended(known, snapshot, latency)));
    },
    [runId, latency],
  );
  const isLong = series.t.length > maxPoints;
  useEffect(() => {
    if (isLong) void reload().catch(() => {});
  }, [isLong, reload]);
  return { series, add, reload };
};

/** The metrics of a run that have their own line in a chart. */
const chartedOf = async (id: number, runId: number): Promise<string[]> => {
  const { data } = await client.tasks.run({ params: { id, runId }, query: { full: true } });
  return [...new Set(data.summary.flatMap(({ metrics }) => metrics.map(({ metric }) => metric)))].filter(isCharted);
};

export const loadSeries = async (id: number, runId: number, latency: string): Promise<RunSeries> => {
  const kinds = await chartedOf(id, runId).catch(() => []);
  const requests = [
    { metrics: [...loads, ...kinds].join(','), agg: undefined },
    ...percentiles.map((agg) => ({ metrics: latency, agg })),
  ];
  const replies = await Promise.all(
    requests.map(({ metrics, agg }) =>
      client.tasks
        .series({ params: { id, runId }, query: { metrics, ...(agg !== undefined && { agg }) } })
        .then(({ data }) => ({ data, agg }))
        .catch(() => undefined),
    ),
  );
  const t = replies.find((reply) => reply !== undefined && reply.data.t.length > 0)?.data.t ?? [];
  const values: Record<string, (number | null)[]> = {};
  for (const reply of replies) {
    for (const { metric, values: points } of reply?.data.series ?? []) {
      const at = new Map(reply?.data.t.map((time, i) => [time, points[i] ?? null]));
      values[reply?.agg === undefined ? metric : `${metric}:${reply.agg}`] = t.map((time) => at.get(time) ?? null);
    }
  }
  return { t, values };
};

const newestOf = ({ type, rate, last }: MetricValue): number | null => (type === 'counter' ? rate : last) ?? null;

/** The values of a snapshot that the charts show. */
const pointsOf = (metrics: readonly MetricValue[], latency: string): Map<string, number | null> => {
  const points = new Map<string, number | null>();
  for (const metric of metrics) {
    if (loads.includes(metric.metric) || isCharted(metric.metric)) points.set(metric.metric, newestOf(metric));
    if (metric.metric === latency) for (const agg of percentiles) points.set(`${latency}:${agg}`, metric[agg] ?? null);
  }
  return points;
};

/** The series with one more second; a second it already has changes nothing. */
export const appended = (known: RunSeries, { ts, values }: MetricSnapshot, latency: string): RunSeries => {
  if (ts === null) return known;
  const at = Date.parse(ts);
  if (at <= (known.t.at(-1) ?? 0)) return known;
  const points = pointsOf(values[0]?.metrics ?? [], latency);
  const keys = new Set([...Object.keys(known.values), ...points.keys()]);
  return {
    t: [...known.t, at],
    values: Object.fromEntries(
      [...keys].map((key) => [key, [...(known.values[key] ?? known.t.map(() => null)), points.get(key) ?? null]]),
    ),
  };
};
