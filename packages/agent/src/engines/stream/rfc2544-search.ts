import { maxTrialsOf, type Rfc2544Plan } from '@rushhour/protocol';

/** What a trial showed, in the unit that is searched: frames a second, or frames of a burst. */
export interface Probe {
  readonly offered: number;
  /** What arrived of it. */
  readonly arrived: number;
  readonly passed: boolean;
}

/**
 * Finds the highest value that passes. Halves what is left between the highest that passed and the lowest that did not;
 * before that it tries what arrived of the last one, because a path that is asked for too much mostly shows what it can.
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
  /** Highest that passed. */
  low = 0;
  /** Lowest that did not; infinite while everything passed. */
  high = Number.POSITIVE_INFINITY;

  /** `least`: differences below it are none. */
  constructor(plan: Pick<Rfc2544Plan, 'resolutionPct'>, { first, minStep }: { first: number; minStep: number }) {
    this.#share = plan.resolutionPct / 100;
    this.#maxTrials = maxTrialsOf(plan);
    this.#first = first;
    this.#minStep = minStep;
  }

  /** What to try next; undefined when it is found, or has taken too long. */
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

  /** What arrived last, a little less of it and a little more: where the truth mostly lies between. */
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
