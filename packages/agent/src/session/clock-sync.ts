import { clockNow } from '../clock.ts';

interface Sample {
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

const kept = 8;
const maxUnanswered = 16;
const minStepMs = 50;

/**
 * Offset between the controller's clock and this agent's. Uses the shortest of the last eight round trips, which has
 * the smallest error.
 */
export class ClockSync {
  readonly #now: () => number;
  readonly #unanswered = new Set<number>();
  #samples: Sample[] = [];

  /** `now` must be monotonic. */
  constructor(now: () => number = clockNow) {
    this.#now = now;
  }

  /** The timestamp to send; it is returned in the answer. */
  stamp(): number {
    const sentAt = this.#now();
    this.#unanswered.add(sentAt);
    if (this.#unanswered.size > maxUnanswered) this.#unanswered.delete([...this.#unanswered][0] as number);
    return sentAt;
  }

  answered(sentAt: number, controllerAt: number): void {
    if (!this.#unanswered.delete(sentAt)) return;
    const roundTripMs = this.#now() - sentAt;
    const sample = { offsetMs: controllerAt - (sentAt + roundTripMs / 2), roundTripMs };
    this.#forgetAfterStep(sample);
    this.#samples.push(sample);
    if (this.#samples.length > kept) this.#samples.shift();
  }

  /** Controller clock minus agent clock; 0 before the first measurement. */
  get offsetMs(): number {
    return this.#best?.offsetMs ?? 0;
  }

  get roundTripMs(): number {
    return this.#best?.roundTripMs ?? 0;
  }

  get #best(): Sample | undefined {
    return this.#samples.reduce<Sample | undefined>(
      (best, sample) => (best === undefined || sample.roundTripMs < best.roundTripMs ? sample : best),
      undefined,
    );
  }

  /** Discards measurements from before the controller's clock was set. */
  #forgetAfterStep({ offsetMs, roundTripMs }: Sample): void {
    const best = this.#best;
    if (best === undefined) return;
    const uncertainty = (roundTripMs + best.roundTripMs) / 2;
    if (Math.abs(offsetMs - best.offsetMs) > uncertainty + minStepMs) this.#samples = [];
  }
}
