/** A stretch of time in which the rate goes linearly from one value to another, in events a second. */
export interface Segment {
  readonly seconds: number;
  readonly from: number;
  readonly to: number;
}

export interface RateWish {
  /** Events a second once every ramp is over. */
  readonly rate: number;
  /** The rate to begin with, raised by `rampStep` each second. */
  readonly initialRate?: number;
  readonly rampStep?: number;
}

export interface Ramps {
  /** The whole length, or undefined when it has no planned end. */
  readonly seconds?: number;
  readonly rampUpSec: number;
  readonly rampDownSec: number;
}

const stairs = (wish: RateWish): Segment[] => {
  const { rate, initialRate = rate, rampStep = 0 } = wish;
  const steps: Segment[] = [];
  if (rampStep <= 0) return steps;
  for (let level = initialRate; level < rate; level += rampStep) steps.push({ seconds: 1, from: level, to: level });
  return steps;
};

/** Ramp up (or stairs), the plateau, ramp down. */
export const segmentsOf = (wish: RateWish, ramps: Ramps): Segment[] => {
  const head = stairs(wish);
  if (ramps.rampUpSec > 0 && head.length === 0) head.push({ seconds: ramps.rampUpSec, from: 0, to: wish.rate });
  const headSeconds = head.reduce((sum, segment) => sum + segment.seconds, 0);
  if (ramps.seconds === undefined)
    return [...head, { seconds: Number.POSITIVE_INFINITY, from: wish.rate, to: wish.rate }];
  const plateau = Math.max(0, ramps.seconds - headSeconds - ramps.rampDownSec);
  const tail: Segment[] = [{ seconds: plateau, from: wish.rate, to: wish.rate }];
  if (ramps.rampDownSec > 0) tail.push({ seconds: ramps.rampDownSec, from: wish.rate, to: 0 });
  return [...head, ...tail].filter((segment) => segment.seconds > 0);
};

interface Placed extends Segment {
  readonly begins: number;
  readonly before: number;
  readonly events: number;
}

/** When each event of a changing rate is due. Exact: over a whole number of seconds at a fixed rate nothing is rounded away. */
export class LoadProfile {
  readonly #segments: Placed[] = [];
  #current = 0;

  constructor(segments: readonly Segment[]) {
    let begins = 0;
    let before = 0;
    for (const segment of segments) {
      const events = ((segment.from + segment.to) / 2) * segment.seconds;
      this.#segments.push({ ...segment, begins, before, events: Number.isNaN(events) ? 0 : events });
      begins += segment.seconds;
      before += events;
    }
  }

  /** Seconds from the start until event `index` (from 0) is due; Infinity when there is no such event. Ask in rising order. */
  dueAt(index: number): number {
    while (this.#current < this.#segments.length) {
      const segment = this.#segments[this.#current] as Placed;
      const wanted = index - segment.before;
      if (wanted < segment.events - 1e-9) return segment.begins + secondsInto(segment, Math.max(0, wanted));
      this.#current++;
    }
    return Number.POSITIVE_INFINITY;
  }

  /** The rate that is wanted; after the end the one it ended with, so that the last second is told as it was. */
  rateAt(seconds: number): number {
    const segment = this.#segments.findLast((candidate) => candidate.begins <= seconds);
    if (segment === undefined) return 0;
    if (segment.from === segment.to || seconds >= segment.begins + segment.seconds) return segment.to;
    return segment.from + ((segment.to - segment.from) * (seconds - segment.begins)) / segment.seconds;
  }
}

const secondsInto = (segment: Segment, events: number): number => {
  if (segment.from === segment.to) return events / segment.from;
  const slope = (segment.to - segment.from) / segment.seconds;
  return (2 * events) / (segment.from + Math.sqrt(Math.max(0, segment.from ** 2 + 2 * slope * events))) || 0;
};
