/** A growing set of small numbers, one bit each. */
export class BitSet {
  size = 0;
  #words = new Int32Array(1024);

  add(number: number): void {
    const word = number >>> 5;
    if (word >= this.#words.length) {
      const larger = new Int32Array(Math.max(word + 1, this.#words.length * 2));
      larger.set(this.#words);
      this.#words = larger;
    }
    const before = this.#words[word] as number;
    const after = before | (1 << (number & 31));
    this.#words[word] = after;
    if (after !== before) this.size++;
  }

  has(number: number): boolean {
    return (((this.#words[number >>> 5] ?? 0) >>> (number & 31)) & 1) === 1;
  }
}
