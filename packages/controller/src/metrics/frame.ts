import { HistogramSum, mergedHistogram } from './histogram-sum.ts';
import type { MetricPlan } from './metric-plan.ts';
import type { Role } from './run-facts.ts';
import type { Measured } from './scan.ts';
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

/** One metric as one side of the traffic saw it. Arrays are by second, from the first second of the frame. */
export class Track<S extends Spread = Spread> {
  /** Seconds of time in which it could be reported; undefined where nobody was there to report it. */
  readonly spans: (number | undefined)[] = [];
  readonly values: (number | undefined)[] = [];
  readonly spread: S;
  hasReported = false;

  constructor(spread: S) {
    this.spread = spread;
  }

  takeOver({ spans, values, hasReported }: Track): this {
    for (const [at, span] of spans.entries()) this.spans[at] = span;
    for (const [at, value] of values.entries()) this.values[at] = value;
    this.hasReported = hasReported;
    return this;
  }
}

type Tracks<S extends Spread> = Record<Role, Track<S>>;

/**
 * The metrics of one label, such as one agent or everything, second by second. Both sides of the traffic may report the
 * same metric; they are kept apart, because what a client sent and a server received is not twice as much.
 */
export class Frame<S extends Spread = Spread> {
  readonly plans: readonly MetricPlan[];
  readonly #fromSec: number;
  readonly #tracks: Tracks<S>[];
  readonly #plansOf = new Map<number, number[]>();
  /** Time of the source in the second it is in, pieces added up. */
  #spanSec = 0;

  constructor(plans: readonly MetricPlan[], fromSec: number, createSpread: () => S) {
    this.plans = plans;
    this.#fromSec = fromSec;
    this.#tracks = plans.map(() => ({ client: new Track(createSpread()), server: new Track(createSpread()) }));
    for (const [index, { sources }] of plans.entries()) {
      for (const source of sources) this.#plansOf.set(source, [...(this.#plansOf.get(source) ?? []), index]);
    }
  }

  /** A copy that goes on by itself. */
  static copyOf(frame: Frame<TotalSpread>): Frame<TotalSpread> {
    const copy = new Frame(frame.plans, frame.#fromSec, () => new TotalSpread());
    const copyTrack = (track: Track<TotalSpread>) =>
      new Track(new TotalSpread(new HistogramSum().addAll(track.spread.sum))).takeOver(track);
    for (const [index, { client, server }] of frame.#tracks.entries()) {
      copy.#tracks[index] = { client: copyTrack(client), server: copyTrack(server) };
    }
    return copy;
  }

  add({ side, second, spanSec, parts, isMore }: Measured, ownParts: readonly Part[] = parts): void {
    const at = second - this.#fromSec;
    this.#spanSec = isMore ? this.#spanSec + spanSec : spanSec;
    for (const [index, plan] of this.plans.entries()) {
      if (!plan.isOf(side.engine)) continue;
      const { spans } = (this.#tracks[index] as Tracks<S>)[side.role];
      spans[at] = Math.max(spans[at] ?? 0, this.#spanSec);
    }
    for (const { scalars, histograms } of ownParts) {
      for (const [number, value] of scalars) {
        for (const index of this.#plansOf.get(number) ?? []) this.#addScalar(index, side.role, at, { value, isMore });
      }
      for (const [number, bytes] of histograms) {
        for (const index of this.#plansOf.get(number) ?? []) {
          const track = (this.#tracks[index] as Tracks<S>)[side.role];
          track.hasReported = true;
          track.spread.add(second, bytes);
        }
      }
    }
  }

  /** What counts of a metric: the word of the clients, or that of the servers where clients have none. */
  trackOf(index: number): Track<S> {
    const { client, server } = this.#tracks[index] as Tracks<S>;
    if (client.hasReported || this.plans[index]?.isOfClients) return client;
    return server.hasReported || client.spans.length === 0 ? server : client;
  }

  #addScalar(index: number, role: Role, at: number, { value, isMore }: { value: number; isMore: boolean }): void {
    const plan = this.plans[index] as MetricPlan;
    if (isMore && plan.kind === 'level') return;
    const track = (this.#tracks[index] as Tracks<S>)[role];
    const before = track.values[at];
    track.hasReported = true;
    if (before === undefined) track.values[at] = value;
    else track.values[at] = plan.isWorst ? Math.max(before, value) : before + value;
  }
}
