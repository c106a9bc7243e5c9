import {
  type AttemptRecord,
  Histogram,
  histogramBytes,
  maxRowsPerRecord,
  type ResultRow,
  type ResultTable,
  type Rfc2544Record,
  type RowsRecord,
} from '@rushhour/protocol';

/** Records an engine reports in addition to metrics. */
export type EngineRecord = AttemptRecord | Rfc2544Record;

/** A monotonic counter. */
export class Counter {
  readonly #cell: Float64Array;
  constructor(cell: Float64Array) {
    this.#cell = cell;
  }
  add(amount: number): void {
    this.#cell[0] = (this.#cell[0] as number) + amount;
  }
  get value(): number {
    return this.#cell[0] as number;
  }
}

/** A current value. */
export class Gauge {
  readonly #cell: Float64Array;
  constructor(cell: Float64Array) {
    this.#cell = cell;
  }
  set(value: number): void {
    this.#cell[0] = value;
  }
  add(amount: number): void {
    this.#cell[0] = (this.#cell[0] as number) + amount;
  }
  get value(): number {
    return this.#cell[0] as number;
  }
}

/** Creates metrics. Look a metric up once and keep the reference. */
export interface Samples {
  counter(name: string): Counter;
  gauge(name: string): Gauge;
  histogram(name: string): Histogram;
  /** Metrics of one target; totals are the sum over all targets. */
  target(name: string): Samples;
}

export type MetricKind = 'counter' | 'gauge' | 'histogram';

/** One metric in shared memory: its owner writes, the sampler reads. */
export interface Metric {
  readonly kind: MetricKind;
  readonly name: string;
  readonly target: string;
  readonly buffer: SharedArrayBuffer;
}

/** All metrics of one engine. They are never reset: the sampler keeps the values it has already reported. */
export class SampleStore implements Samples {
  readonly metrics: Metric[] = [];
  /** Records for the next summary, oldest first. */
  readonly records: EngineRecord[] = [];
  /** Rows that have changed since they were reported, by table and index. */
  readonly #rows = new Map<ResultTable, Map<number, ResultRow>>();
  readonly #made = new Map<string, Counter | Gauge | Histogram>();
  readonly #onMetric: (metric: Metric) => void;
  /** Targets that share the metrics of another name. */
  targetNames: ReadonlyMap<string, string> = new Map();

  constructor(onMetric: (metric: Metric) => void = () => {}) {
    this.#onMetric = onMetric;
  }

  counter(name: string): Counter {
    return this.#metric('counter', name, '', (buffer) => new Counter(new Float64Array(buffer)));
  }
  gauge(name: string): Gauge {
    return this.#metric('gauge', name, '', (buffer) => new Gauge(new Float64Array(buffer)));
  }
  histogram(name: string): Histogram {
    return this.#metric('histogram', name, '', (buffer) => new Histogram(buffer));
  }

  target(name: string): Samples {
    const target = this.targetNames.get(name) ?? name;
    return {
      counter: (name) => this.#metric('counter', name, target, (buffer) => new Counter(new Float64Array(buffer))),
      gauge: (name) => this.#metric('gauge', name, target, (buffer) => new Gauge(new Float64Array(buffer))),
      histogram: (name) => this.#metric('histogram', name, target, (buffer) => new Histogram(buffer)),
      target: (other) => this.target(other),
    };
  }

  /** Reports a row of a table. Only its newest state is sent if it changes several times within a second. */
  putRow(table: ResultTable, row: ResultRow): void {
    const rows = this.#rows.get(table) ?? new Map<number, ResultRow>();
    this.#rows.set(table, rows);
    rows.set(row.index, row);
  }

  /** Removes and returns up to `max` records: those of engines first, then changed rows. */
  takeRecords(max: number): (EngineRecord | RowsRecord)[] {
    const taken: (EngineRecord | RowsRecord)[] = this.records.splice(0, max);
    for (const [table, rows] of this.#rows) {
      while (rows.size > 0 && taken.length < max) taken.push({ side: 'rows', table, rows: firstOf(rows) });
    }
    return taken;
  }

  get hasRecords(): boolean {
    return this.records.length > 0 || this.#rows.values().some((rows) => rows.size > 0);
  }

  /** Adds a metric written by another thread. */
  adopt(metric: Metric): void {
    this.metrics.push(metric);
  }

  #metric<T extends Counter | Gauge | Histogram>(
    kind: MetricKind,
    name: string,
    target: string,
    view: (buffer: SharedArrayBuffer) => T,
  ): T {
    const key = `${kind} ${name} ${target}`;
    const made = this.#made.get(key);
    if (made !== undefined) return made as T;
    const buffer = new SharedArrayBuffer(kind === 'histogram' ? histogramBytes : Float64Array.BYTES_PER_ELEMENT);
    const metric: Metric = { kind, name, target, buffer };
    const value = view(buffer);
    this.#made.set(key, value);
    this.metrics.push(metric);
    this.#onMetric(metric);
    return value;
  }
}

const firstOf = (rows: Map<number, ResultRow>): ResultRow[] => {
  const first = rows.values().take(maxRowsPerRecord).toArray();
  for (const { index } of first) rows.delete(index);
  return first;
};
