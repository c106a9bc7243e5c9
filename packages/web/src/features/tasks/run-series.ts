import type { MetricSnapshot } from '@rushhour/contract';
import { useCallback, useEffect, useState } from 'react';
import { client } from '../../lib/client.ts';

/** What the charts of a run show, second by second. */
export interface RunSeries {
  readonly t: readonly number[];
  readonly values: Readonly<Record<string, readonly (number | null)[]>>;
}

/** `metric` or `metric:aggregation`, as `achievedLoad` or `http.latency:p99`. */
export const latencyKeys = (plugin: string) => ['p50', 'p95', 'p99', 'max'].map((agg) => `${plugin}.latency:${agg}`);
const loadKeys = ['achievedLoad', 'targetLoad', 'errors', 'txBps', 'rxBps'];
const longest = 2000;

const empty: RunSeries = { t: [], values: {} };

/** Reads what is there, then grows with every snapshot given to `add`. */
export const useRunSeries = (taskId: number, runId: number | null, plugin: string) => {
  const [series, setSeries] = useState<RunSeries>(empty);
  const reload = useCallback(async () => {
    if (runId !== null) setSeries(await loadSeries(taskId, runId, plugin));
  }, [taskId, runId, plugin]);
  useEffect(() => {
    setSeries(empty);
    void reload().catch(() => {});
  }, [reload]);
  const add = useCallback(
    (snapshot: MetricSnapshot) => {
      if (snapshot.runId === runId) setSeries((known) => grown(known, snapshot, [...loadKeys, ...latencyKeys(plugin)]));
    },
    [runId, plugin],
  );
  return { series, add, reload };
};

const loadSeries = async (id: number, runId: number, plugin: string): Promise<RunSeries> => {
  const wanted = [
    { metrics: loadKeys.join(','), agg: undefined },
    ...['p50', 'p95', 'p99', 'max'].map((agg) => ({ metrics: `${plugin}.latency`, agg: agg as 'p50' })),
  ];
  const replies = await Promise.all(
    wanted.map(({ metrics, agg }) =>
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

const grown = (known: RunSeries, { ts, values }: MetricSnapshot, keys: readonly string[]): RunSeries => {
  if (ts === null) return known;
  const at = Date.parse(ts);
  if (at <= (known.t.at(-1) ?? 0)) return known;
  const metrics = values[0]?.metrics ?? [];
  const pointOf = (key: string): number | null => {
    const [name, agg] = key.split(':');
    const metric = metrics.find((one) => one.metric === name);
    if (metric === undefined) return null;
    const chosen = agg === undefined ? (metric.type === 'counter' ? metric.rate : metric.last) : metric[agg as 'p99'];
    return chosen ?? null;
  };
  const cut = Math.max(0, known.t.length + 1 - longest);
  return {
    t: [...known.t, at].slice(cut),
    values: Object.fromEntries(
      keys.map((key) => [key, [...(known.values[key] ?? known.t.map(() => null)), pointOf(key)].slice(cut)]),
    ),
  };
};
