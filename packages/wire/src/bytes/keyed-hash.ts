const rotl = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

/**
 * HalfSipHash-1-3 with a 64-bit key over 32-bit words: unpredictable to a peer without the key, cheap in 32-bit
 * arithmetic. For initial sequence numbers, SYN cookies and timestamp offsets.
 */
export class KeyedHash {
  readonly #key0: number;
  readonly #key1: number;

  constructor(key0: number, key1: number) {
    this.#key0 = key0 | 0;
    this.#key1 = key1 | 0;
  }

  /** Hash of `count` words of a key from `at` on, and one more word. */
  of(key: Int32Array, at: number, count: number, more: number): number {
    let v0 = this.#key0;
    let v1 = this.#key1;
    let v2 = 0x6c796765 ^ this.#key0;
    let v3 = 0x74656462 ^ this.#key1;
    for (let i = 0; i <= count + 3; i++) {
      let word = 0;
      if (i < count) word = key[at + i] as number;
      else if (i === count) word = more;
      else if (i === count + 1) v2 ^= 0xff;
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = rotl(v1, 5) ^ v0;
      v0 = rotl(v0, 16);
      v2 = (v2 + v3) | 0;
      v3 = rotl(v3, 8) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = rotl(v3, 7) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = rotl(v1, 13) ^ v2;
      v2 = rotl(v2, 16);
      v0 ^= word;
    }
    return v1 ^ v3;
  }
}
