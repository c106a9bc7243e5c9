const proportional = 0.7;
const integral = 0.3;
/** Larger differences are stepped, not slewed. */
const stepNs = 20_000_000;
const maxPpb = 500_000;

/** An emulated clock on top of that of the machine: it follows a leader, and errs on purpose. */
export class EmulatedClock {
  readonly #offsetNs: number;
  readonly #errorPpb: number;
  readonly #machineNs: () => bigint;
  readonly #startNs: bigint;
  /** What it is ahead of the machine's clock, at `#sinceNs`, and how fast that grows. */
  #aheadNs = 0;
  #ratePpb = 0;
  #drift = 0;
  #sinceNs: bigint;
  #isFollowing = false;
  steps = 0;

  constructor(machineNs: () => bigint, error: { readonly offsetNs: number; readonly driftPpb: number }) {
    this.#machineNs = machineNs;
    this.#offsetNs = error.offsetNs;
    this.#errorPpb = error.driftPpb;
    this.#startNs = machineNs();
    this.#sinceNs = this.#startNs;
  }

  /** The time of this clock, nanoseconds since 1970. */
  get nowNs(): bigint {
    return this.at(this.#machineNs());
  }

  /** What it showed when the clock of the machine showed a time. */
  at(machineNs: bigint): bigint {
    const sinceNs = Number(machineNs - this.#sinceNs);
    const errorNs = this.#offsetNs + (Number(machineNs - this.#startNs) * this.#errorPpb) / 1e9;
    return machineNs + BigInt(Math.round(this.#aheadNs + (sinceNs * this.#ratePpb) / 1e9 + errorNs));
  }

  /** The clock is ahead of its leader by so much: it is steered towards it. `intervalSec`: time between such calls. */
  steer(offsetNs: number, intervalSec: number): void {
    const now = this.#machineNs();
    this.#aheadNs += (Number(now - this.#sinceNs) * this.#ratePpb) / 1e9;
    this.#sinceNs = now;
    if (!this.#isFollowing || Math.abs(offsetNs) > stepNs) {
      this.#isFollowing = true;
      this.#aheadNs -= offsetNs;
      this.#ratePpb = 0;
      this.#drift = 0;
      this.steps++;
      return;
    }
    const perSec = offsetNs / intervalSec;
    this.#drift = Math.min(Math.max(this.#drift - integral * perSec * intervalSec, -maxPpb), maxPpb);
    this.#ratePpb = Math.min(Math.max(this.#drift - proportional * perSec, -maxPpb), maxPpb);
  }

  /** There is no leader any more: the next one is stepped to. */
  release(): void {
    this.#isFollowing = false;
  }
}
