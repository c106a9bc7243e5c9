import { createHash } from 'node:crypto';

/** Endless numbers that follow from a text: the same text, the same numbers. */
export const seededBytes = (seed: string) => {
  const digest = createHash('sha256').update(seed).digest();
  let [a, b, c, counter] = [0, 4, 8, 12].map((at) => digest.readUInt32LE(at)) as [number, number, number, number];
  // sfc32: small, fast and good enough to choose bytes; the hash has spread the seed already.
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  const byte = (): number => next() & 255;
  /** A whole number from 0 up to, not including, `limit`. */
  const below = (limit: number) => Math.floor((next() / 2 ** 32) * Math.max(1, limit));
  const text = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet[below(alphabet.length)] ?? '').join('');
  return { byte, below, text };
};

export type SeededBytes = ReturnType<typeof seededBytes>;
