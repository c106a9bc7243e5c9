const wordBits = 32;
const lowRange = 2 ** 32;

/**
 * Anti-replay window (RFC 4303, 3.4.3). Sequence numbers are whole ones: with extended numbers `expand` finds the upper
 * half that was not sent.
 */
export class ReplayWindow {
  readonly #size: number;
  /** Created with the first packet: many SAs carry none. */
  #bits: Uint32Array | undefined;
  #highest = 0;

  /** `size`: a multiple of 32; 0 accepts everything. */
  constructor(size: number) {
    this.#size = size;
  }

  get highest(): number {
    return this.#highest;
  }

  /** The whole extended number of a received lower half (RFC 4303, appendix A2). */
  expand(low: number): number {
    const span = Math.max(this.#size, wordBits);
    const highestLow = this.#highest % lowRange;
    const high = (this.#highest - highestLow) / lowRange;
    const bottom = highestLow - span + 1;
    if (bottom >= 0) return (low >= bottom ? high : high + 1) * lowRange + low;
    const isBefore = low >= bottom + lowRange;
    return (isBefore && high > 0 ? high - 1 : high) * lowRange + low;
  }

  /** False for numbers that were received or lie before the window. */
  isNew(sequence: number): boolean {
    if (this.#size === 0) return true;
    if (sequence === 0) return false;
    if (sequence > this.#highest) return true;
    if (this.#highest - sequence >= this.#size) return false;
    const bit = sequence % this.#size;
    return (((this.#bits?.[bit >>> 5] ?? 0) as number) & (1 << (bit & 31))) === 0;
  }

  /** Call only for packets whose integrity was checked. */
  accept(sequence: number): void {
    if (this.#size === 0) {
      this.#highest = Math.max(this.#highest, sequence);
      return;
    }
    this.#bits ??= new Uint32Array(this.#size / wordBits);
    const bits = this.#bits;
    if (sequence > this.#highest) this.#move(bits, sequence);
    const bit = sequence % this.#size;
    bits[bit >>> 5] = (bits[bit >>> 5] as number) | (1 << (bit & 31));
  }

  #move(bits: Uint32Array, sequence: number): void {
    if (sequence - this.#highest >= this.#size) bits.fill(0);
    else
      for (let one = this.#highest + 1; one < sequence; one++) {
        const bit = one % this.#size;
        bits[bit >>> 5] = (bits[bit >>> 5] as number) & ~(1 << (bit & 31));
      }
    const bit = sequence % this.#size;
    bits[bit >>> 5] = (bits[bit >>> 5] as number) & ~(1 << (bit & 31));
    this.#highest = sequence;
  }
}
