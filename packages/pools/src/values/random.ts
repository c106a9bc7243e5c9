/**
 * Counter-based randomness: a word is a hash (MurmurHash3, 32 bit) of a key and a counter. There is no state, so two
 * processes that know the same key agree on every value. Not for secrets.
 */
export interface Key {
  readonly a: number;
  readonly b: number;
}

/** 1, 1n and "1" are the same seed. */
export type Seed = number | bigint | string;

const textEncoder = new TextEncoder();

export function keyOf(seed: Seed, ...parts: readonly (number | string)[]): Key {
  let key = subkeyOfText({ a: 0x243f6a88, b: 0x85a308d3 }, String(seed));
  for (const part of parts) key = typeof part === 'number' ? subkeyOf(key, part) : subkeyOfText(key, part);
  return key;
}

/** A key of its own for the n-th thing under `key`; n is a safe integer. */
export function subkeyOf(key: Key, n: number): Key {
  const high = Math.floor(n / 2 ** 32);
  return {
    a: finish(absorb(absorb(key.a, n), high) ^ key.b),
    b: finish(absorb(absorb(key.b, high), n) ^ 0x13198a2e),
  };
}

/** An unsigned 32-bit word. */
export function wordOf(key: Key, counter: number): number {
  return finish(absorb(absorb(key.a, counter), key.b));
}

/** In [0, 1), with 53 random bits. */
export function unitOf(key: Key): number {
  return ((wordOf(key, 0) >>> 5) * 2 ** 26 + (wordOf(key, 1) >>> 6)) / 2 ** 53;
}

/** In 0 … size − 1. */
export function integerBelow(key: Key, size: bigint): bigint {
  if (size <= 2n ** 32n) return BigInt(Math.floor(unitOf(key) * Number(size)));
  // 64 bits more than needed keep the bias of the remainder below 2⁻⁶⁴.
  return bitsOf(key, size.toString(16).length * 4 + 64) % size;
}

/** At least `count` random bits. */
export function bitsOf(key: Key, count: number): bigint {
  let hex = '0x';
  for (let i = 0; i * 32 < count; i++) hex += wordOf(key, i).toString(16).padStart(8, '0');
  return BigInt(hex);
}

function subkeyOfText(key: Key, text: string): Key {
  const bytes = textEncoder.encode(text);
  let next = subkeyOf(key, bytes.length);
  for (let i = 0; i < bytes.length; i += 4) {
    const word =
      (bytes[i] ?? 0) | ((bytes[i + 1] ?? 0) << 8) | ((bytes[i + 2] ?? 0) << 16) | ((bytes[i + 3] ?? 0) << 24);
    next = subkeyOf(next, word >>> 0);
  }
  return next;
}

function absorb(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  let h = hash ^ Math.imul(k, 0x1b873593);
  h = (h << 13) | (h >>> 19);
  return (Math.imul(h, 5) + 0xe6546b64) | 0;
}

function finish(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A stateful generator of numbers in [0, 1) (mulberry32): the same seed gives the same sequence. */
export function seededRandom(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A copy of the items in random order. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const mixed = [...items];
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [mixed[i], mixed[j]] = [mixed[j] as T, mixed[i] as T];
  }
  return mixed;
}
