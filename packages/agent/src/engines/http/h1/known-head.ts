const maxKnownBytes = 1024;
const maxMisses = 16;

let viewed: Buffer | undefined;
let words = new Int32Array(0) as Int32Array;

/** A 32-bit view of the buffer; cached because received bytes mostly lie in the same memory. */
const wordsOf = (bytes: Buffer): Int32Array => {
  if (viewed !== bytes) {
    viewed = bytes;
    words = new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >> 2);
  }
  return words;
};

/** Caches the last parsed head, so that an identical one is not parsed again. `H`: the parsed form. */
export class KnownHead<H> {
  /** The parsed head; valid when `isAt` returned true. */
  head!: H;
  #bytes = new Uint8Array(0);
  #words = new Int32Array(0);
  #length = 0;
  #misses = 0;

  /** Whether the cached head starts here. Compares 32-bit words, four times faster than bytes. */
  isAt(bytes: Buffer, at: number, end: number): boolean {
    const length = this.#length;
    const first = bytes.byteOffset + at;
    if (length === 0 || end - at < length || (first & 3) !== 0) return false;
    const found = wordsOf(bytes);
    const known = this.#words;
    const whole = length >> 2;
    for (let i = 0; i < whole; i++) if (found[(first >> 2) + i] !== known[i]) return false;
    for (let i = whole << 2; i < length; i++) if (bytes[at + i] !== this.#bytes[i]) return false;
    this.#misses = 0;
    return true;
  }

  /** Length of the cached head in bytes. */
  get length(): number {
    return this.#length;
  }

  /** The cache is disabled after too many different heads. */
  get isGivenUp(): boolean {
    return this.#misses > maxMisses;
  }

  remember(bytes: Buffer, { start, end, head }: { start: number; end: number; head: H }): void {
    const length = end - start;
    if (length > maxKnownBytes || this.isGivenUp) return;
    this.#misses++;
    this.head = head;
    if (length > this.#bytes.length) {
      this.#words = new Int32Array((length + 3) >> 2);
      this.#bytes = new Uint8Array(this.#words.buffer);
    }
    for (let i = 0; i < length; i++) this.#bytes[i] = bytes[start + i] as number;
    this.#length = length;
  }
}
