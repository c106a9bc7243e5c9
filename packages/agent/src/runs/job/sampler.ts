import { Histogram, maxRecords, type Phase, type Series, type Summary } from '@rushhour/protocol';
import type { Metric, SampleStore } from '../../samples.ts';

type Reported = number | Histogram;

/** Creates one summary per second from the cumulative metrics of one engine. */
export class Sampler {
  readonly #store: SampleStore;
  readonly #reported = new Map<Metric, Reported>();
  #seq = 0;
  #lastAt: number;

  constructor(store: SampleStore, startedAt: number) {
    this.#store = store;
    this.#lastAt = startedAt;
  }

  /** Restarts the first interval at the common start. Earlier counts belong to it. */
  restart(at: number): void {
    this.#lastAt = at;
  }

  /** Middle of the interval that would end at this time. */
  middleOf(at: number): number {
    return (this.#lastAt + at) / 2;
  }

  /** Ends the current interval. */
  take(at: number, phase: Phase): Summary {
    const series = new Map<string, Series>();
    for (const metric of this.#store.metrics) this.#addTo(seriesOf(series, metric.target), metric);
    return this.#summary(at, phase, [...series.values()]);
  }

  /** Summaries with the records that did not fit into the last interval. */
  rest(at: number, phase: Phase): Summary[] {
    const rest: Summary[] = [];
    while (this.#store.hasRecords) rest.push(this.#summary(at, phase, []));
    return rest;
  }

  #summary(at: number, phase: Phase, series: Series[]): Summary {
    const records = this.#store.takeRecords(maxRecords);
    const summary: Summary = {
      seq: ++this.#seq,
      at,
      spanMs: Math.max(at - this.#lastAt, 1),
      phase,
      series,
      ...(records.length > 0 && { records }),
    };
    this.#lastAt = at;
    return summary;
  }

  #addTo(series: Series, metric: Metric): void {
    if (metric.kind === 'histogram') {
      const earlier = (this.#reported.get(metric) as Histogram | undefined) ?? new Histogram();
      const { now, values } = new Histogram(metric.buffer).takeSince(earlier);
      if (values.count === 0) return;
      this.#reported.set(metric, now);
      const others = series.histograms[metric.name];
      if (others !== undefined) values.merge(Histogram.fromBase64(others));
      series.histograms[metric.name] = values.toBase64();
      return;
    }
    const value = new Float64Array(metric.buffer)[0] as number;
    const kind = metric.kind === 'gauge' ? series.gauges : series.counters;
    const before = this.#reported.get(metric) as number | undefined;
    const increase = metric.kind === 'gauge' ? value : value - (before ?? 0);
    this.#reported.set(metric, value);
    // The first report may be 0: the engine counts this, and nothing has happened yet.
    if (metric.kind === 'gauge' || increase !== 0 || before === undefined)
      kind[metric.name] = (kind[metric.name] ?? 0) + increase;
  }
}

const seriesOf = (all: Map<string, Series>, target: string): Series => {
  const found = all.get(target);
  if (found !== undefined) return found;
  const made: Series = { target, counters: {}, gauges: {}, histograms: {} };
  all.set(target, made);
  return made;
};
