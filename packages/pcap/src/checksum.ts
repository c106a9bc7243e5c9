import { u8, u16 } from './bytes.ts';

/** Sum of 16-bit words, not yet folded; an odd last byte counts as the high half of a word. */
export function sumOf(bytes: Uint8Array, start: number, end: number): number {
  let sum = 0;
  let at = start;
  for (; at + 1 < end; at += 2) sum += u16(bytes, at);
  return at < end ? sum + (u8(bytes, at) << 8) : sum;
}

/** Internet checksum (RFC 1071) of a sum below 2⁴⁸. Only sums over more than 128 KiB exceed 32 bits. */
export function checksumOf(sum: number): number {
  const word = sum > 0xffff_ffff ? (sum & 0xffff) + Math.floor(sum / 65536) : sum;
  const folded = (word & 0xffff) + (word >>> 16);
  return ~(folded + (folded >>> 16)) & 0xffff;
}

/** Sum of the pseudo header that TCP, UDP and ICMPv6 include. */
export function pseudoHeaderSum(addresses: Uint8Array, protocol: number, length: number): number {
  return sumOf(addresses, 0, addresses.length) + protocol + (length >>> 16) + (length & 0xffff);
}

/** A checksum after some words it covers have changed (RFC 1624). */
export function adjustedChecksum(checksum: number, oldSum: number, newSum: number): number {
  const complement = 0xffff - foldOf(oldSum);
  return checksumOf((~checksum & 0xffff) + complement + foldOf(newSum));
}

function foldOf(sum: number): number {
  return ~checksumOf(sum) & 0xffff;
}
