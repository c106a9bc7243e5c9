/** Sum of 16-bit words, not yet folded; an odd last byte counts as the high half of a word. */
export const sumOf = (bytes: Uint8Array, start: number, end: number): number => {
  let sum = 0;
  let at = start;
  for (; at + 1 < end; at += 2) sum += ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
  return at < end ? sum + ((bytes[at] as number) << 8) : sum;
};

/** Internet checksum (RFC 1071) of a sum below 2³²: that of the largest packet is. */
export const checksumOf = (sum: number): number => {
  const folded = (sum & 0xffff) + (sum >>> 16);
  return ~(folded + (folded >>> 16)) & 0xffff;
};
