/** Bytes of a number of variable length (RFC 9000, section 16). */
export const varintLength = (value: number): number =>
  value < 64 ? 1 : value < 16_384 ? 2 : value < 1_073_741_824 ? 4 : 8;

/** Writes a number and returns where it ends. */
export const writeVarint = (bytes: Uint8Array, at: number, value: number): number => {
  const length = varintLength(value);
  let rest = value;
  for (let i = length - 1; i >= 0; i--) {
    bytes[at + i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes[at] = (bytes[at] as number) | (length === 1 ? 0 : length === 2 ? 0x40 : length === 4 ? 0x80 : 0xc0);
  return at + length;
};

/** The length of the number that begins with this byte. */
export const varintLengthAt = (first: number): number => 1 << (first >> 6);

/** Reads a number that is there as a whole. */
export const readVarint = (bytes: Uint8Array, at: number): number => {
  const first = bytes[at] as number;
  const length = varintLengthAt(first);
  let value = first & 0x3f;
  for (let i = 1; i < length; i++) value = value * 256 + (bytes[at + i] as number);
  return value;
};
