const contextBytes = 8;

/** Offset of the first difference; undefined when equal. Missing and extra bytes count as differences. */
export const firstDifference = (expected: Uint8Array, arrived: Uint8Array): number | undefined => {
  const [left, right] = [bufferOf(expected), bufferOf(arrived)];
  if (left.equals(right)) return undefined;
  const common = Math.min(left.length, right.length);
  for (let at = 0; at < common; at++) if (left[at] !== right[at]) return at;
  return common;
};

/** Describes a difference with the bytes around it. */
export const describeDifference = (expected: Uint8Array, arrived: Uint8Array, at: number): string => {
  const [wanted, found] = [around(expected, at), around(arrived, at)];
  if (at >= arrived.length) return `ends after ${at} of ${expected.length} bytes: ${found} instead of ${wanted}`;
  if (at >= expected.length) return `goes on after its ${at} bytes: ${found}`;
  return `differs at byte ${at}: 0x${hexOf(arrived, at)} instead of 0x${hexOf(expected, at)}, ${found} instead of ${wanted}`;
};

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

const hexOf = (bytes: Uint8Array, at: number): string => (bytes[at] ?? 0).toString(16).padStart(2, '0');

const around = (bytes: Uint8Array, at: number): string => {
  const text = bufferOf(bytes.subarray(Math.max(0, at - contextBytes), at + contextBytes)).toString('latin1');
  return JSON.stringify(text).replace(/[\u007f-\u00ff]/g, (letter) => `\\x${letter.charCodeAt(0).toString(16)}`);
};
