/** The few pieces of ASN.1 DER that a certificate is made of. */
const tagged = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  if (body.length < 128) return Buffer.concat([Buffer.of(tag, body.length), body]);
  const hex = body.length.toString(16);
  const length = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | length.length), length, body]);
};

export const sequence = (...parts: readonly Uint8Array[]) => tagged(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]) => tagged(0x31, ...parts);
export const octets = (bytes: Uint8Array) => tagged(0x04, bytes);
export const bits = (bytes: Uint8Array) => tagged(0x03, Buffer.of(0), bytes);
export const utf8 = (text: string) => tagged(0x0c, Buffer.from(text));
export const time = (date: Date) => tagged(0x18, Buffer.from(date.toISOString().replace(/[-:T]|\.\d+/g, '')));
export const boolean = (value: boolean) => tagged(0x01, Buffer.of(value ? 0xff : 0));
export const context = (number: number, ...parts: readonly Uint8Array[]) => tagged(0xa0 | number, ...parts);
/** A context tag that replaces the type's own, on something not built of parts. */
export const implicit = (number: number, bytes: Uint8Array) => tagged(0x80 | number, bytes);

/** A positive integer given by its bytes. */
export const integer = (bytes: Uint8Array) =>
  tagged(0x02, (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes);

export const oid = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = rest.flatMap((arc) => {
    const groups = [arc & 127];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 127) | 128);
    return groups;
  });
  return tagged(0x06, Buffer.of(first * 40 + second, ...bytes));
};
