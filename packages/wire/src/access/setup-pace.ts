/** How many sessions begin a second. What comes above it is not answered and asks again. */
export class SetupPace {
  readonly #perSec: number;
  #second = -1;
  #taken = 0;

  /** 0: no limit. */
  constructor(perSec: number) {
    this.#perSec = perSec;
  }

  hasRoom(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#taken = 0;
    }
    return this.#perSec === 0 || this.#taken < this.#perSec;
  }

  take(): void {
    this.#taken++;
  }
}
