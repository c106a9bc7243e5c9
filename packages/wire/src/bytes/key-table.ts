const minCapacity = 16;
const none = -1;

/**
 * Hash table from keys of a fixed number of 32-bit words to slots 0, 1, 2, … All of it lies in typed arrays, so a million
 * entries cost the garbage collector nothing. Slots are reused, the most recently removed first.
 */
export class KeyTable {
  readonly width: number;
  /** Key of slot i at i × width. Replaced when the table grows. */
  keys: Int32Array;
  count = 0;
  readonly #seed: number;
  #heads: Int32Array;
  /** Next slot of the same chain, or of the free list. */
  #next: Int32Array;
  #free = none;
  /** Slots below this one were used at some time. */
  #used = 0;

  constructor({ width, seed, capacity = minCapacity }: { width: number; seed: number; capacity?: number }) {
    this.width = width;
    this.#seed = seed | 0;
    let size = minCapacity;
    while (size < capacity) size *= 2;
    this.keys = new Int32Array(size * width);
    this.#next = new Int32Array(size).fill(none);
    this.#heads = new Int32Array(size * 2).fill(none);
  }

  /** Slots that exist so far, used or free. */
  get slots(): number {
    return this.#used;
  }

  /** The slot of the key at `at` of an array, or -1. */
  find(key: Int32Array, at: number): number {
    const { width, keys } = this;
    let slot = this.#heads[this.#bucketOf(key, at)] as number;
    while (slot !== none) {
      let word = width - 1;
      for (let base = slot * width; word >= 0 && keys[base + word] === key[at + word]; ) word--;
      if (word < 0) return slot;
      slot = this.#next[slot] as number;
    }
    return none;
  }

  /** Adds a key that is not in the table and returns its slot. */
  add(key: Int32Array, at: number): number {
    let slot = this.#free;
    if (slot !== none) this.#free = this.#next[slot] as number;
    else {
      slot = this.#used++;
      if (slot >= this.#next.length) this.#grow();
    }
    const { width, keys } = this;
    for (let word = 0; word < width; word++) keys[slot * width + word] = key[at + word] as number;
    this.#link(slot);
    this.count++;
    return slot;
  }

  remove(slot: number): void {
    const bucket = this.#bucketOf(this.keys, slot * this.width);
    const next = this.#next;
    let at = this.#heads[bucket] as number;
    if (at === slot) this.#heads[bucket] = next[slot] as number;
    else {
      while (next[at] !== slot) at = next[at] as number;
      next[at] = next[slot] as number;
    }
    next[slot] = this.#free;
    this.#free = slot;
    this.count--;
  }

  #link(slot: number): void {
    const bucket = this.#bucketOf(this.keys, slot * this.width);
    this.#next[slot] = this.#heads[bucket] as number;
    this.#heads[bucket] = slot;
  }

  #bucketOf(key: Int32Array, at: number): number {
    let hash = this.#seed;
    for (let word = this.width - 1; word >= 0; word--) {
      hash = Math.imul(hash ^ (key[at + word] as number), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash, 0x85ebca77);
    return (hash ^ (hash >>> 13)) & (this.#heads.length - 1);
  }

  /** Called when every slot is in use, so the free list is empty and every slot is linked again. */
  #grow(): void {
    const size = this.#next.length * 2;
    const keys = new Int32Array(size * this.width);
    keys.set(this.keys);
    this.keys = keys;
    this.#next = new Int32Array(size).fill(none);
    this.#heads = new Int32Array(size * 2).fill(none);
    for (let slot = 0; slot < size / 2; slot++) this.#link(slot);
  }
}
