/**
 * The bytes a value puts on the wire: text types in UTF-8, integers in decimal, hex and base64 as what they spell,
 * `u8` … `u32le` in binary. Throws a RangeError where the value does not fit the type.
 */
export function encodeParameter(type: string, value: string): Uint8Array {
  if (type === 'hex') return hexBytes(value);
  if (type === 'base64') return base64Bytes(value);
  if (Object.hasOwn(binaryWriters, type)) return binaryBytes(type, value);
  if (type === 'integer' && !/^-?\d+$/.test(value.trim())) throw new RangeError(`"${value}" is not an integer`);
  return new Uint8Array(Buffer.from(value, 'utf8'));
}

const binaryWriters: Readonly<Record<string, { bytes: number; write(view: DataView, value: number): void }>> = {
  u8: { bytes: 1, write: (view, value) => view.setUint8(0, value) },
  u16be: { bytes: 2, write: (view, value) => view.setUint16(0, value) },
  u16le: { bytes: 2, write: (view, value) => view.setUint16(0, value, true) },
  u32be: { bytes: 4, write: (view, value) => view.setUint32(0, value) },
  u32le: { bytes: 4, write: (view, value) => view.setUint32(0, value, true) },
};

function binaryBytes(type: string, text: string): Uint8Array {
  const writer = binaryWriters[type];
  const value = /^\s*(?:\d{1,10}|0x[0-9a-f]{1,8})\s*$/i.test(text) ? Number(text) : Number.NaN;
  if (writer === undefined || !(value < 2 ** (8 * writer.bytes))) throw new RangeError(`"${text}" is not a ${type}`);
  const bytes = new Uint8Array(writer.bytes);
  writer.write(new DataView(bytes.buffer), value);
  return bytes;
}

function hexBytes(text: string): Uint8Array {
  const digits = text.replace(/[\s:]/g, '');
  if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) throw new RangeError(`"${text}" is not hexadecimal`);
  return new Uint8Array(Buffer.from(digits, 'hex'));
}

function base64Bytes(text: string): Uint8Array {
  const compact = text.replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(compact)) throw new RangeError(`"${text}" is not base64`);
  return new Uint8Array(Buffer.from(compact, 'base64'));
}
