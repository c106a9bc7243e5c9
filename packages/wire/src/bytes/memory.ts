/** A stretch of bytes with the view that reads and writes numbers in it. Packets are windows [start, end) of one. */
export class Memory {
  readonly bytes: Uint8Array;
  readonly view: DataView;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
}

export const createMemory = (length: number): Memory => new Memory(new Uint8Array(length));

/** A copy of bytes [start, end), also of a `Buffer`, whose own `slice` shares its memory. */
export const copyOf = (bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array<ArrayBuffer> =>
  new Uint8Array(bytes.subarray(start, end));

/** Bytes written as hexadecimal; white space is ignored. */
export const bytesOfHex = (text: string): Uint8Array => {
  const digits = text.replaceAll(/\s/g, '');
  if (digits.length % 2 !== 0 || /[^0-9a-f]/i.test(digits)) throw new RangeError(`${text} is not hexadecimal`);
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) => Number.parseInt(digits.slice(i * 2, i * 2 + 2), 16));
};

export const hexOfBytes = (bytes: Uint8Array, start = 0, end = bytes.length): string =>
  Array.from(bytes.subarray(start, end), (byte) => byte.toString(16).padStart(2, '0')).join('');

export const isSameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);
