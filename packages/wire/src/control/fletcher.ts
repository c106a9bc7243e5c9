// The Fletcher checksum of link-state packets (ISO 8473, RFC 905 annex B). No loop lasts long enough to overflow.
const batch = 4096;

const sumsOf = (bytes: Uint8Array, start: number): { readonly c0: number; readonly c1: number } => {
  let c0 = 0;
  let c1 = 0;
  for (let from = start; from < bytes.length; from += batch) {
    const end = Math.min(from + batch, bytes.length);
    for (let at = from; at < end; at++) {
      c0 += bytes[at] as number;
      c1 += c0;
    }
    c0 %= 255;
    c1 %= 255;
  }
  return { c0, c1 };
};

/** Whether the bytes from `start` on have a valid checksum among them. */
export const isFletcherValid = (bytes: Uint8Array, start: number): boolean => {
  const { c0, c1 } = sumsOf(bytes, start);
  return c0 === 0 && c1 === 0;
};

/** Writes the checksum of the bytes from `start` on at `at`. */
export const setFletcher = (bytes: Uint8Array, start: number, at: number): void => {
  bytes[at] = 0;
  bytes[at + 1] = 0;
  const { c0, c1 } = sumsOf(bytes, start);
  const after = bytes.length - at - 1;
  let x = (after * c0 - c1) % 255;
  if (x <= 0) x += 255;
  let y = 510 - c0 - x;
  if (y > 255) y -= 255;
  bytes[at] = x;
  bytes[at + 1] = y;
};
