import type { Field } from './field.ts';

/** A piece of a message: text, bytes, the value of a parameter, or several pieces. */
export type Part = string | Uint8Array | Field | readonly Part[];

const isField = (part: Part): part is Field => typeof part === 'object' && 'recorded' in part;

export interface Region {
  readonly field: Field;
  readonly offset: number;
  readonly length: number;
}

/** The bytes of a message and where its parameters are. */
export const compose = (parts: readonly Part[]): { bytes: Uint8Array; regions: Region[] } => {
  const chunks: Uint8Array[] = [];
  const regions: Region[] = [];
  let offset = 0;
  const add = (part: Part): void => {
    if (Array.isArray(part)) {
      part.forEach(add);
      return;
    }
    const piece = part as Exclude<Part, readonly Part[]>;
    const bytes = isField(piece) ? piece.recorded : typeof piece === 'string' ? Buffer.from(piece) : piece;
    if (isField(piece)) regions.push({ field: piece, offset, length: bytes.length });
    chunks.push(bytes);
    offset += bytes.length;
  };
  parts.forEach(add);
  return { bytes: Buffer.concat(chunks), regions };
};

export const sizeOf = (...parts: Part[]): number => compose(parts).bytes.length;

export const u8 = (...values: number[]): Uint8Array => Uint8Array.from(values);
export const u16 = (value: number): Uint8Array => u8(value >>> 8, value);
export const u24 = (value: number): Uint8Array => u8(value >>> 16, value >>> 8, value);
export const u32 = (value: number): Uint8Array => u8(value >>> 24, value >>> 16, value >>> 8, value);
export const le16 = (value: number): Uint8Array => u16(value).reverse();
export const le24 = (value: number): Uint8Array => u24(value).reverse();
export const le32 = (value: number): Uint8Array => u32(value).reverse();
export const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'));
export const zeros = (count: number): Uint8Array => new Uint8Array(count);
export const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf16le'));

/** Bytes without a pattern that are the same in every build: a stand-in for media and for encrypted data. */
export const noise = (count: number, seed = 1): Uint8Array => {
  let state = seed >>> 0 || 1;
  return Uint8Array.from({ length: count }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state & 0xff;
  });
};

/** Parts behind their length. */
export const sized8 = (...parts: Part[]): Part => [u8(sizeOf(...parts)), ...parts];
export const sized16 = (...parts: Part[]): Part => [u16(sizeOf(...parts)), ...parts];
export const sized24 = (...parts: Part[]): Part => [u24(sizeOf(...parts)), ...parts];
export const sized32 = (...parts: Part[]): Part => [u32(sizeOf(...parts)), ...parts];

/** Parts behind a 32-bit length that counts itself, as in MongoDB and PostgreSQL. */
export const sizedWhole32 = (...parts: Part[]): Part => [u32(sizeOf(...parts) + 4), ...parts];
export const sizedWholeLe32 = (...parts: Part[]): Part => [le32(sizeOf(...parts) + 4), ...parts];

/** Tag, length and value of ASN.1 BER. */
export const ber = (tag: number, ...parts: Part[]): Part => {
  const size = sizeOf(...parts);
  return [u8(tag), size < 128 ? u8(size) : u8(0x82, size >>> 8, size), ...parts];
};
export const berInteger = (value: number, tag = 2): Part => ber(tag, value < 128 ? u8(value) : u8(value >>> 8, value));
export const berText = (text: Part, tag = 4): Part => ber(tag, text);
