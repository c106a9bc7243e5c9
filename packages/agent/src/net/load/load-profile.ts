/** A period in which the rate changes linearly from one value to another, in events per second. */
export interface Segment {
  readonly seconds: number;
  readonly from: number;
  readonly to: number;
}

export interface RateOptions {
  /** Events per second after all ramps. */
  readonly rate: number;
  /** The initial rate, increased by `rampStep` every second. */
  readonly initialRate?: number;
  readonly rampStep?: number;
}

export interface Ramps {
  /** The total length; undefined if there is no planned end. */
  readonly seconds?: number;
  readonly rampUpSec: number;
  readonly rampDownSec: number;
  /** Shares of the rate over time, instead of ramps. */
  readonly curve?: readonly Segment[] | undefined;
}

const scaled = (curve: readonly Segment[], rate: number): Segment[] =>
  curve.map(({ seconds, from, to }) => ({ seconds, from: from * rate, to: to * rate }));

/** What is left of a curve after `elapsedSec`. */
const restOf = (curve: readonly Segment[], elapsedSec: number): Segment[] => {
  let startsAt = 0;
  return curve.flatMap((segment) => {
    const into = Math.max(0, elapsedSec - startsAt);
    startsAt += segment.seconds;
    if (into >= segment.seconds) return [];
    const from = segment.from + ((segment.to - segment.from) * into) / segment.seconds;
    return [{ seconds: segment.seconds - into, from, to: segment.to }];
  });
};

const rateSteps = (options: RateOptions): Segment[] => {
  const { rate, initialRate = rate, rampStep = 0 } = options;
  const steps: Segment[] = [];
  if (rampStep <= 0) return steps;
  for (let level = initialRate; level < rate; level += rampStep) steps.push({ seconds: 1, from: level, to: level });
  return steps;
};

/** Ramp up (or rate steps), plateau, ramp down. */
export const segmentsOf = (options: RateOptions, ramps: Ramps): Segment[] => {
  if (ramps.curve !== undefined) return scaled(ramps.curve, options.rate);
  const rampUp = rateSteps(options);
  if (ramps.rampUpSec > 0 && rampUp.length === 0) rampUp.push({ seconds: ramps.rampUpSec, from: 0, to: options.rate });
  const rampUpSeconds = rampUp.reduce((sum, segment) => sum + segment.seconds, 0);
  if (ramps.seconds === undefined)
    return [...rampUp, { seconds: Number.POSITIVE_INFINITY, from: options.rate, to: options.rate }];
  const plateau = Math.max(0, ramps.seconds - rampUpSeconds - ramps.rampDownSec);
  const tail: Segment[] = [{ seconds: plateau, from: options.rate, to: options.rate }];
  if (ramps.rampDownSec > 0) tail.push({ seconds: ramps.rampDownSec, from: options.rate, to: 0 });
  return [...rampUp, ...tail].filter((segment) => segment.seconds > 0);
};

/**
 * The rest of a profile after its rate was changed at `elapsedSec`: a ramp that is under way goes on to or from the new
 * rate, a later ramp-down is kept. The rest of a curve is scaled.
 */
export const changedSegments = (
  { from, rate }: { readonly from: number; readonly rate: number },
  ramps: Ramps,
  elapsedSec: number,
): Segment[] => {
  if (ramps.curve !== undefined) return scaled(restOf(ramps.curve, elapsedSec), rate);
  const rampUp = Math.max(0, ramps.rampUpSec - elapsedSec);
  const left = (ramps.seconds ?? Number.POSITIVE_INFINITY) - elapsedSec;
  const rampDown = Math.min(ramps.rampDownSec, Math.max(0, left));
  // In the middle of a ramp-down only the rest of it is left.
  const top = ramps.rampDownSec > 0 ? (rate * rampDown) / ramps.rampDownSec : rate;
  return [
    { seconds: rampUp, from, to: rate },
    { seconds: Math.max(0, left - rampUp - rampDown), from: rate, to: rate },
    { seconds: rampDown, from: top, to: 0 },
  ].filter((segment) => segment.seconds > 0);
};

interface TimedSegment extends Segment {
  readonly startsAt: number;
  readonly eventsBefore: number;
  readonly events: number;
}

/**
 * When each event of a changing rate is due. Exact: at a fixed rate over whole seconds no event is lost to rounding.
 */
export class LoadProfile {
  readonly #segments: TimedSegment[] = [];
  #current = 0;

  constructor(segments: readonly Segment[]) {
    let begins = 0;
    let before = 0;
    for (const segment of segments) {
      const events = ((segment.from + segment.to) / 2) * segment.seconds;
      this.#segments.push({
        ...segment,
        startsAt: begins,
        eventsBefore: before,
        events: Number.isNaN(events) ? 0 : events,
      });
      begins += segment.seconds;
      before += events;
    }
  }

  /**
   * Seconds from the start until event `index` (from 0) is due; Infinity if there is no such event. Call with
   * increasing indexes.
   */
  dueAt(index: number): number {
    while (this.#current < this.#segments.length) {
      const segment = this.#segments[this.#current] as TimedSegment;
      const wanted = index - segment.eventsBefore;
      if (wanted < segment.events - 1e-9) return segment.startsAt + secondsInto(segment, Math.max(0, wanted));
      this.#current++;
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Number of events that are due within so many seconds from the start. */
  eventsBy(seconds: number): number {
    const segment = this.#segments.findLast((candidate) => candidate.startsAt <= seconds);
    if (segment === undefined) return 0;
    const into = Math.min(seconds - segment.startsAt, segment.seconds);
    const to =
      segment.from === segment.to ? segment.to : segment.from + ((segment.to - segment.from) * into) / segment.seconds;
    return segment.eventsBefore + ((segment.from + to) / 2) * into;
  }

  /** The target rate; after the end the last one, so that the last second reports the right value. */
  rateAt(seconds: number): number {
    const segment = this.#segments.findLast((candidate) => candidate.startsAt <= seconds);
    if (segment === undefined) return 0;
    if (segment.from === segment.to || seconds >= segment.startsAt + segment.seconds) return segment.to;
    return segment.from + ((segment.to - segment.from) * (seconds - segment.startsAt)) / segment.seconds;
  }
}

const secondsInto = (segment: Segment, events: number): number => {
  if (segment.from === segment.to) return events / segment.from;
  const slope = (segment.to - segment.from) / segment.seconds;
  return (2 * events) / (segment.from + Math.sqrt(Math.max(0, segment.from ** 2 + 2 * slope * events))) || 0;
};
