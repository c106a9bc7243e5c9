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

/** One metric. Arrays are by second, from the first second of the frame. */
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

/** Whose word counts for a metric. */
export interface Voice {
  readonly plan: MetricPlan;
  readonly voice: Role | 'any';
}

/** The metrics of one label, such as one agent or everything, second by second. */
export class Frame<S extends Spread = Spread> {
  readonly #voices: readonly Voice[];
  readonly #fromSec: number;
  readonly #tracks: Track<S>[];
  /** By role and number of a reported metric: the places of those that are made of it. */
  readonly #placesOf: Record<Role, Map<number, number[]>> = { client: new Map(), server: new Map() };
  /** Time of the source in the second it is in, pieces added up. */
  #spanSec = 0;

  constructor(voices: readonly Voice[], fromSec: number, createSpread: () => S) {
    this.#voices = voices;
    this.#fromSec = fromSec;
    this.#tracks = voices.map(() => new Track(createSpread()));
    for (const role of ['client', 'server'] as const) {
      for (const [place, { plan, voice }] of voices.entries()) {
        if (voice !== role && voice !== 'any') continue;
        const places = this.#placesOf[role];
        for (const source of plan.sources) places.set(source, [...(places.get(source) ?? []), place]);
      }
    }
  }

  /** A copy that goes on by itself. */
  static copyOf(frame: Frame<TotalSpread>): Frame<TotalSpread> {
    const copy = new Frame(frame.#voices, frame.#fromSec, () => new TotalSpread());
    for (const [place, track] of frame.#tracks.entries()) {
      copy.#tracks[place] = new Track(new TotalSpread(new HistogramSum().addAll(track.spread.sum))).takeOver(track);
    }
    return copy;
  }

  get plans(): MetricPlan[] {
    return this.#voices.map(({ plan }) => plan);
  }

  trackOf(place: number): Track<S> {
    return this.#tracks[place] as Track<S>;
  }

  add({ side, second, spanSec, parts, isMore }: Measured, ownParts: readonly Part[] = parts): void {
    const at = second - this.#fromSec;
    this.#spanSec = isMore ? this.#spanSec + spanSec : spanSec;
    for (const [place, { plan, voice }] of this.#voices.entries()) {
      if ((voice !== side.role && voice !== 'any') || !plan.isOf(side.engine)) continue;
      const { spans } = this.trackOf(place);
      spans[at] = Math.max(spans[at] ?? 0, this.#spanSec);
    }
    const places = this.#placesOf[side.role];
    for (const { scalars, histograms } of ownParts) {
      for (const [number, value] of scalars) {
        for (const place of places.get(number) ?? []) this.#addScalar(place, at, value, isMore);
      }
      for (const [number, bytes] of histograms) {
        for (const place of places.get(number) ?? []) this.trackOf(place).spread.add(second, bytes);
      }
    }
  }

  #addScalar(place: number, at: number, value: number, isMore: boolean): void {
    const { kind, isWorst } = (this.#voices[place] as Voice).plan;
    if (isMore && kind === 'level') return;
    const { values } = this.trackOf(place);
    const before = values[at];
    if (before === undefined) values[at] = value;
    else values[at] = isWorst ? Math.max(before, value) : before + value;
  }
}
