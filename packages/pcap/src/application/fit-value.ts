const ZERO = 0x30;
const SPACE = 0x20;
const MINUS = 0x2d;
const unpaddable = new Set(['hex', 'base64', 'u8', 'u16be', 'u16le', 'u32be', 'u32le']);

/** Whether shorter values of this type can be padded to the length of the mapping. */
export function isPaddable(type: string): boolean {
  return !unpaddable.has(type);
}

/**
 * Makes a value exactly as long as the place that cannot change its length: integers get zeros on the left,
 * texts blanks on the right. Throws a RangeError where that cannot be.
 */
export function fitValue(bytes: Uint8Array, length: number, type: string): Uint8Array {
  if (bytes.length === length) return bytes;
  if (bytes.length > length || !isPaddable(type)) {
    throw new RangeError(`a value of ${bytes.length} bytes does not fit a mapping of ${length} bytes`);
  }
  const fitted = new Uint8Array(length).fill(type === 'integer' ? ZERO : SPACE);
  if (type !== 'integer') {
    fitted.set(bytes);
    return fitted;
  }
  const sign = bytes[0] === MINUS ? 1 : 0;
  fitted.set(bytes.subarray(0, sign));
  fitted.set(bytes.subarray(sign), length - bytes.length + sign);
  return fitted;
}
