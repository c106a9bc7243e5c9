import type { MetricSnapshot, MetricValue } from '@rushhour/contract';

/** One number of one second of a run. */
export interface Point {
  /** In the form of Prometheus, such as `rushhour_run_http_latency_p99`. */
  readonly name: string;
  readonly unit: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

const percentiles = ['p50', 'p90', 'p95', 'p99', 'p999'] as const;

/** `http.txBytes` → `http_tx_bytes`, `agentID` → `agent_id`: the convention of Prometheus. */
const snakeCase = (text: string) =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();

interface Part {
  readonly suffix: string;
  readonly value: number | null | undefined;
}

/** What is exported of a value: rates of counters, the last value of gauges, percentiles of histograms. */
const partsOf = ({ type, rate, last, avg, max, ...value }: MetricValue): Part[] => {
  if (type === 'counter') return [{ suffix: '_per_second', value: rate }];
  if (type === 'gauge') return [{ suffix: '', value: last ?? avg }];
  return [
    ...percentiles.map((member) => ({ suffix: `_${member}`, value: value[member] })),
    { suffix: '_avg', value: avg },
    { suffix: '_max', value: max },
  ];
};

/** Names in milliseconds become names in seconds, the unit of times in Prometheus. */
const inBaseUnit = ({ metric, unit }: MetricValue) =>
  unit === 'ms' && metric.endsWith('Ms')
    ? { name: metric.replace(/Ms$/, 'Seconds'), unit: 's', factor: 0.001 }
    : { name: metric, unit, factor: 1 };

const pointsOfValue = (metric: MetricValue, labels: Record<string, string>, at: number): Point[] => {
  const { name, unit, factor } = inBaseUnit(metric);
  return partsOf(metric).flatMap(({ suffix, value }) =>
    typeof value === 'number' && Number.isFinite(value)
      ? [
          {
            name: `rushhour_run_${snakeCase(name)}${suffix}`,
            unit: suffix === '_per_second' ? `${unit}/s` : unit,
            labels,
            value: value * factor,
            at,
          },
        ]
      : [],
  );
};

/** The points of one second; `labels` say which task and run it is of. */
export const pointsOf = ({ ts, values }: MetricSnapshot, labels: Record<string, string>): Point[] => {
  const at = Date.parse(ts ?? '');
  return values.flatMap((group) => {
    const all = Object.entries({ ...labels, ...group.labels }).map(([name, value]) => [snakeCase(name), value]);
    return group.metrics.flatMap((metric) => pointsOfValue(metric, Object.fromEntries(all), at));
  });
};
