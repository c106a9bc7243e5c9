import type { MetricPlan } from '../read/metric-plan.ts';
import type { Role } from '../read/run-facts.ts';
import type { Measured } from '../read/scan.ts';
import { HistogramSum, mergedHistogram } from '../rollup/histogram-sum.ts';
import type { Part } from './second.ts';

/** Where single values go: all into one sum, or apart by steps of time. */
export interface Spread {
  add(second: number, bytes: Uint8Array): void;
}

export class TotalSpread implements Spread {
  readonly sum: HistogramSum;
  constructor(sum = new HistogramSum()) {
    this.sum = sum;
  }
  add(_second: number, bytes: Uint8Array): void {
    this.sum.add(bytes);
  }
}

export class SteppedSpread implements Spread {
  readonly steps: (Uint8Array | undefined)[] = [];
  readonly #stepOf: (second: number) => number;

  constructor(stepOf: (second: number) => number) {
    this.#stepOf = stepOf;
  }

  add(second: number, bytes: Uint8Array): void {
    const step = this.#stepOf(second);
    const before = this.steps[step];
    this.steps[step] = before === undefined ? bytes : mergedHistogram([before, bytes]);
  }
}

/** One metric. Arrays are by second, from the first second of the window. */
export class Track<S extends Spread = Spread> {
  /** Seconds of time in which it could be reported; undefined where nobody was there to report it. */
  readonly spans: (number | undefined)[] = [];
  readonly values: (number | undefined)[] = [];
  readonly spread: S;

  constructor(spread: S) {
    this.spread = spread;
  }

  takeOver({ spans, values }: Track): this {
    for (const [at, span] of spans.entries()) this.spans[at] = span;
    for (const [at, value] of values.entries()) this.values[at] = value;
    return this;
  }
}

/** A metric and the side whose reports count for it. */
export interface MetricAuthority {
  readonly plan: MetricPlan;
  readonly authority: Role | 'any';
}

/** The metrics of one label, such as one agent or everything, second by second. */
export class AggregationWindow<S extends Spread = Spread> {
  readonly #metrics: readonly MetricAuthority[];
  readonly #fromSec: number;
  readonly #tracks: Track<S>[];
  /** By role and number of a reported metric: the indexes of the metrics computed from it. */
  readonly #indexesOf: Record<Role, Map<number, number[]>> = { client: new Map(), server: new Map() };
  /** Time of the source in the second it is in, pieces added up. */
  #spanSec = 0;

  constructor(metrics: readonly MetricAuthority[], fromSec: number, createSpread: () => S) {
    this.#metrics = metrics;
    this.#fromSec = fromSec;
    this.#tracks = metrics.map(() => new Track(createSpread()));
    for (const role of ['client', 'server'] as const) {
      for (const [index, { plan, authority }] of metrics.entries()) {
        if (authority !== role && authority !== 'any') continue;
        const indexes = this.#indexesOf[role];
        for (const source of plan.sources) indexes.set(source, [...(indexes.get(source) ?? []), index]);
      }
    }
  }

  /** An independent copy. */
  static copyOf(window: AggregationWindow<TotalSpread>): AggregationWindow<TotalSpread> {
    const copy = new AggregationWindow(window.#metrics, window.#fromSec, () => new TotalSpread());
    for (const [index, track] of window.#tracks.entries()) {
      copy.#tracks[index] = new Track(new TotalSpread(new HistogramSum().addAll(track.spread.sum))).takeOver(track);
    }
    return copy;
  }

  get plans(): MetricPlan[] {
    return this.#metrics.map(({ plan }) => plan);
  }

  trackOf(index: number): Track<S> {
    return this.#tracks[index] as Track<S>;
  }

  add({ side, second, spanSec, parts, isMore }: Measured, ownParts: readonly Part[] = parts): void {
    const at = second - this.#fromSec;
    this.#spanSec = isMore ? this.#spanSec + spanSec : spanSec;
    for (const [index, { plan, authority }] of this.#metrics.entries()) {
      if ((authority !== side.role && authority !== 'any') || !plan.isOf(side.engine)) continue;
      const { spans } = this.trackOf(index);
      spans[at] = Math.max(spans[at] ?? 0, this.#spanSec);
    }
    const indexes = this.#indexesOf[side.role];
    for (const { scalars, histograms } of ownParts) {
      for (const [number, value] of scalars) {
        for (const index of indexes.get(number) ?? []) this.#addScalar(index, at, value, isMore);
      }
      for (const [number, bytes] of histograms) {
        for (const index of indexes.get(number) ?? []) this.trackOf(index).spread.add(second, bytes);
      }
    }
  }

  #addScalar(index: number, at: number, value: number, isMore: boolean): void {
    const { kind, isWorst } = (this.#metrics[index] as MetricAuthority).plan;
    if (isMore && kind === 'level') return;
    const { values } = this.trackOf(index);
    const before = values[at];
    if (before === undefined) values[at] = value;
    else values[at] = isWorst ? Math.max(before, value) : before + value;
  }
}
