const maxKnownBytes = 1024;
const maxMisses = 16;

let viewed: Buffer | undefined;
let words = new Int32Array(0) as Int32Array;

/** The memory around bytes as words. What arrives lies in the same memory most of the time. */
const wordsOf = (bytes: Buffer): Int32Array => {
  if (viewed !== bytes) {
    viewed = bytes;
    words = new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >> 2);
  }
  return words;
};

/** A head that was read and what it says, to know it when it comes again. `H`: what is told of heads. */
export class KnownHead<H> {
  /** What it says, for one that `isAt`. */
  head!: H;
  #bytes = new Uint8Array(0);
  #words = new Int32Array(0);
  #length = 0;
  #misses = 0;

  /** Whether this head begins here, byte for byte. Words are compared: that takes a quarter of reading the bytes. */
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

  /** The length of the head, for one that `isAt`. */
  get length(): number {
    return this.#length;
  }

  /** Heads that are never the same are not worth the trouble. */
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
