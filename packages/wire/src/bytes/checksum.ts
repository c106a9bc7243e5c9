import type { Memory } from './memory.ts';

/** Folds a ones' complement sum below 2^48 to 16 bits. */
export const foldSum = (sum: number): number => {
  let folded = sum > 0xffffffff ? (sum % 0x10000) + Math.floor(sum / 0x10000) : sum;
  folded = (folded & 0xffff) + (folded >>> 16);
  folded = (folded & 0xffff) + (folded >>> 16);
  return folded;
};

/** The two bytes of a 16-bit word the other way round. */
export const swap16 = (value: number): number => ((value & 0xff) << 8) | (value >>> 8);

/**
 * Ones' complement sum of the big-endian 16-bit words of [start, end), folded to 16 bits; an odd last byte is the high
 * half of a word. Sums 32 bits at a time in the machine's order and swaps once: the sum does not depend on the order.
 */
export const sumBytes = ({ view, bytes }: Memory, start: number, end: number): number => {
  let low = 0;
  let high = 0;
  let at = start;
  for (const last = end - 16; at <= last; at += 16) {
    const a = view.getInt32(at, true);
    const b = view.getInt32(at + 4, true);
    const c = view.getInt32(at + 8, true);
    const d = view.getInt32(at + 12, true);
    low += (a & 0xffff) + (b & 0xffff) + (c & 0xffff) + (d & 0xffff);
    high += (a >>> 16) + (b >>> 16) + (c >>> 16) + (d >>> 16);
  }
  for (; at + 2 <= end; at += 2) low += view.getUint16(at, true);
  if (at < end) low += bytes[at] as number;
  return swap16(foldSum(low + high));
};

/** The checksum field for a sum of everything it covers (RFC 1071). */
export const checksumOf = (sum: number): number => ~foldSum(sum) & 0xffff;

/** True if the sum of a covered area, checksum included, is right. */
export const isSumValid = (sum: number): boolean => foldSum(sum) === 0xffff;

/** A checksum after one of the 16-bit words it covers has changed (RFC 1624, equation 3). */
export const updateChecksum = (checksum: number, before: number, after: number): number =>
  ~foldSum((~checksum & 0xffff) + (~before & 0xffff) + after) & 0xffff;
