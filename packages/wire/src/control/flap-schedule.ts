/** Interruptions on purpose: every `intervalMs` something is down for `downMs`. */
export interface FlapOptions {
  /** 0: never. */
  readonly intervalMs: number;
  readonly downMs: number;
  /** 0: no end. */
  readonly count: number;
}

/** When something goes down and comes back. */
export class FlapSchedule {
  isDown = false;
  readonly #options: FlapOptions;
  #nextAt = Number.POSITIVE_INFINITY;
  #done = 0;

  constructor(options: FlapOptions) {
    this.#options = options;
  }

  start(now: number): void {
    const { intervalMs } = this.#options;
    this.#nextAt = intervalMs > 0 ? now + intervalMs : Number.POSITIVE_INFINITY;
    this.isDown = false;
  }

  /** Returns the change that is due, if one is. */
  advance(now: number): 'down' | 'up' | undefined {
    if (now < this.#nextAt) return undefined;
    const { intervalMs, downMs, count } = this.#options;
    this.isDown = !this.isDown;
    if (this.isDown) {
      this.#done++;
      this.#nextAt = now + downMs;
      return 'down';
    }
    this.#nextAt = count > 0 && this.#done >= count ? Number.POSITIVE_INFINITY : now + intervalMs;
    return 'up';
  }
}
