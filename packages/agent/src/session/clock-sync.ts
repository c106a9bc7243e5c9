interface Sample {
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

const kept = 8;
const maxUnanswered = 16;
const stepMs = 50;

/**
 * Offset between the controller's clock and this one. Uses the shortest of the last eight round trips, which has the
 * smallest error.
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

  /** The timestamp to send; it is returned in the answer. */
  stamp(): number {
    const sentAt = this.#wall();
    this.#unanswered.set(sentAt, this.#steady());
    if (this.#unanswered.size > maxUnanswered) this.#unanswered.delete([...this.#unanswered.keys()][0] as number);
    return sentAt;
  }

  answered(sentAt: number, controllerAt: number): void {
    const sentSteady = this.#unanswered.get(sentAt);
    if (sentSteady === undefined) return;
    this.#unanswered.delete(sentAt);
    this.#forgetAfterStep();
    const roundTripMs = this.#steady() - sentSteady;
    this.#samples.push({ offsetMs: controllerAt - (sentAt + roundTripMs / 2), roundTripMs });
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

  /** Discards measurements after this machine's clock was set. */
  #forgetAfterStep(): void {
    const wallMinusSteady = this.#wall() - this.#steady();
    if (Math.abs(wallMinusSteady - this.#wallMinusSteady) > stepMs) this.#samples = [];
    this.#wallMinusSteady = wallMinusSteady;
  }
}
