/** An ordered list of texts that is computed, not stored. */
export interface Sequence {
  readonly size: bigint;
  at(index: bigint): string;
}

const chunkLimit = 2 ** 53;

/**
 * The `length` digits of `index` in base `radix`, most significant first. Digits come off in chunks that fit a
 * number, because each division of a large BigInt costs its whole length.
 */
export function digitsOf(index: bigint, radix: number, length: number): number[] {
  const digits = new Array<number>(length).fill(0);
  if (radix < 2) return digits;
  const perChunk = Math.floor(Math.log(chunkLimit) / Math.log(radix) - 1e-9);
  const chunkSize = BigInt(radix) ** BigInt(perChunk);
  let rest = index;
  for (let end = length; end > 0; end -= perChunk) {
    let chunk = Number(rest % chunkSize);
    rest /= chunkSize;
    for (let i = end - 1; i >= Math.max(0, end - perChunk); i--) {
      digits[i] = chunk % radix;
      chunk = Math.floor(chunk / radix);
    }
  }
  return digits;
}
