interface Sample {
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

const kept = 8;
const mostUnanswered = 16;
const stepMs = 50;

/**
 * The difference between the controller's clock and this one. Of the last eight round trips the shortest is believed:
 * it leaves the least room for error.
 */
export class ClockSync {
  readonly #wall: () => number;
  readonly #steady: () => number;
  readonly #unanswered = new Map<number, number>();
  #samples: Sample[] = [];
  #wallMinusSteady: number;

  constructor(wall: () => number = Date.now, steady: () => number = () => performance.now()) {
    this.#wall = wall;
    this.#steady = steady;
    this.#wallMinusSteady = wall() - steady();
  }

  /** To be sent along; comes back in the answer. */
  stamp(): number {
    const sentAt = this.#wall();
    this.#unanswered.set(sentAt, this.#steady());
    if (this.#unanswered.size > mostUnanswered) this.#unanswered.delete([...this.#unanswered.keys()][0] as number);
    return sentAt;
  }

  answered(sentAt: number, controllerAt: number): void {
    const left = this.#unanswered.get(sentAt);
    if (left === undefined) return;
    this.#unanswered.delete(sentAt);
    this.#forgetAfterStep();
    const roundTripMs = this.#steady() - left;
    this.#samples.push({ offsetMs: controllerAt - (sentAt + roundTripMs / 2), roundTripMs });
    if (this.#samples.length > kept) this.#samples.shift();
  }

  /** Clock of the controller minus clock of the agent; 0 before anything was measured. */
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

  /** Somebody set this machine's clock: what was measured before is worth nothing. */
  #forgetAfterStep(): void {
    const wallMinusSteady = this.#wall() - this.#steady();
    if (Math.abs(wallMinusSteady - this.#wallMinusSteady) > stepMs) this.#samples = [];
    this.#wallMinusSteady = wallMinusSteady;
  }
}
