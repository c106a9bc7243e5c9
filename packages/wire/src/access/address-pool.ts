/** A range of consecutive numbers that are handed out one by one; the longest unused is not handed out again at once. */
export class NumberPool {
  readonly size: number;
  used = 0;
  readonly #taken: Uint32Array;
  #next = 0;

  constructor(size: number) {
    this.size = size;
    this.#taken = new Uint32Array(Math.ceil(size / 32));
  }

  isTaken(number: number): boolean {
    return (((this.#taken[number >>> 5] as number) >>> (number & 31)) & 1) === 1;
  }

  /** A free number, or -1. */
  take(): number {
    if (this.used >= this.size) return -1;
    for (;;) {
      if (this.#next >= this.size) this.#next = 0;
      if ((this.#next & 31) === 0 && this.#taken[this.#next >>> 5] === 0xffffffff) {
        this.#next += 32;
        continue;
      }
      const number = this.#next++;
      if (this.takeAt(number)) return number;
    }
  }

  /** Takes a certain number; false if it is not free. */
  takeAt(number: number): boolean {
    if (number < 0 || number >= this.size || this.isTaken(number)) return false;
    const word = number >>> 5;
    this.#taken[word] = (this.#taken[word] as number) | (1 << (number & 31));
    this.used++;
    return true;
  }

  release(number: number): void {
    if (!this.isTaken(number)) return;
    const word = number >>> 5;
    this.#taken[word] = (this.#taken[word] as number) & ~(1 << (number & 31));
    this.used--;
  }
}
