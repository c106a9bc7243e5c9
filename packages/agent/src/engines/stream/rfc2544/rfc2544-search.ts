import { maxTrialsOf, type Rfc2544Plan } from '@rushhour/protocol';

/** Result of a trial, in frames per second or frames of a burst. */
export interface Probe {
  readonly offered: number;
  /** Received part of `offered`. */
  readonly arrived: number;
  readonly passed: boolean;
}

/**
 * Finds the highest value that passes by bisection between the highest passed and the lowest failed value. Before
 * that it tries the received rate of the last trial, because an overloaded path mostly delivers its capacity.
 */
export class Search {
  readonly #share: number;
  readonly #maxTrials: number;
  readonly #first: number;
  readonly #minStep: number;
  #lastFailed: Probe | undefined;
  #hints = 0;
  #isAboveTried = false;
  trials = 0;
  /** Highest passed value. */
  low = 0;
  /** Lowest failed value; infinite while everything passed. */
  high = Number.POSITIVE_INFINITY;

  /** `minStep`: smaller differences are ignored. */
  constructor(plan: Pick<Rfc2544Plan, 'resolutionPct'>, { first, minStep }: { first: number; minStep: number }) {
    this.#share = plan.resolutionPct / 100;
    this.#maxTrials = maxTrialsOf(plan);
    this.#first = first;
    this.#minStep = minStep;
  }

  /** The next value to try; undefined when the search has ended. */
  next(): number | undefined {
    if (this.trials === 0) return this.#first;
    if (this.high === Number.POSITIVE_INFINITY || this.trials >= this.#maxTrials) return undefined;
    if (this.high - this.low <= Math.max(this.#minStep, this.#share * this.high)) return undefined;
    return this.#guess() ?? (this.low + this.high) / 2;
  }

  note(probe: Probe): void {
    this.trials++;
    if (probe.passed) this.low = Math.max(this.low, probe.offered);
    else {
      this.high = Math.min(this.high, probe.offered);
      this.#lastFailed = probe;
    }
  }

  /** A guess around the received rate of the last failed trial: slightly below it, later slightly above `low`. */
  #guess(): number | undefined {
    const middle = (this.low + this.high) / 2;
    if (this.low === 0 && this.#hints < 2) {
      this.#hints++;
      const hint = (this.#lastFailed?.arrived ?? 0) * (1 - this.#share / 2);
      return hint > this.#minStep && hint < this.high ? hint : undefined;
    }
    if (this.#hints === 0 || this.#isAboveTried || this.low === 0) return undefined;
    this.#isAboveTried = true;
    const above = this.low * (1 + this.#share);
    return above < middle ? above : undefined;
  }
}
