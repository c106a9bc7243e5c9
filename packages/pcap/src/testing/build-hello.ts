/** Fields of a TLS client hello, as lists of numbers. */
export interface HelloFields {
  readonly ciphers: readonly number[];
  readonly extensions: readonly (readonly [type: number, body: readonly number[]])[];
  readonly version?: number;
}

/** A client hello in TLS records of at most `recordBytes` each. */
export function helloRecords(fields: HelloFields, recordBytes = 16_384): Uint8Array {
  const extensions = fields.extensions.flatMap(([type, body]) => [...pair(type), ...vector16(body)]);
  const body = [
    ...pair(fields.version ?? 0x0303),
    ...new Array<number>(32).fill(9),
    0,
    ...vector16(fields.ciphers.flatMap(pair)),
    1,
    0,
    ...vector16(extensions),
  ];
  const message = [1, 0, ...pair(body.length), ...body];
  const records: number[] = [];
  for (let at = 0; at < message.length; at += recordBytes) {
    records.push(22, 3, 1, ...vector16(message.slice(at, at + recordBytes)));
  }
  return Uint8Array.from(records);
}

export function pair(value: number): number[] {
  return [value >>> 8, value & 255];
}

export function vector16(body: readonly number[]): number[] {
  return [...pair(body.length), ...body];
}

export function vector8(body: readonly number[]): number[] {
  return [body.length, ...body];
}

export function letters(text: string): number[] {
  return [...Buffer.from(text)];
}
