import { createHash } from 'node:crypto';

/** Endless bytes that follow from a text: the same text, the same bytes. */
export const seededBytes = (seed: string) => {
  let block = Buffer.alloc(0);
  let counter = 0;
  let position = 0;
  const byte = (): number => {
    if (position === block.length) {
      block = createHash('sha256').update(`${seed}/${counter}`).digest();
      counter += 1;
      position = 0;
    }
    position += 1;
    return block[position - 1] as number;
  };
  /** A whole number from 0 up to, not including, `limit`. */
  const below = (limit: number) => {
    let value = 0;
    for (let i = 0; i < 6; i += 1) value = value * 256 + byte();
    return value % Math.max(1, limit);
  };
  const text = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet[below(alphabet.length)] ?? '').join('');
  return { byte, below, text };
};

export type SeededBytes = ReturnType<typeof seededBytes>;
