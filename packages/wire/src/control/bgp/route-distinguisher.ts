import { parseAddress } from '../../ip/address.ts';

export const distinguisherBytes = 8;

const max16 = 0xffff;
const max32 = 0xffffffff;

/** Type and value of `65000:1`, `192.0.2.1:1` or `4200000000:1`; `offset` is added to the number behind the colon. */
const parsePair = (text: string, offset: number): { readonly type: number; readonly bytes: Uint8Array } => {
  const [left = '', right = ''] = text.split(':');
  const isAddress = left.includes('.');
  const administrator = isAddress ? (parseAddress(left)[3] as number) >>> 0 : Number(left);
  const type = isAddress ? 1 : administrator > max16 ? 2 : 0;
  const number = Number(right) + offset;
  if (!(administrator <= max32 && number <= (type === 0 ? max32 : max16)))
    throw new RangeError(`${left}:${number} has a part that is too large`);
  const bytes = new Uint8Array(distinguisherBytes);
  const view = new DataView(bytes.buffer);
  if (type === 0) view.setUint16(2, administrator);
  else view.setUint32(2, administrator);
  if (type === 0) view.setUint32(4, number);
  else view.setUint16(6, number);
  return { type, bytes };
};

/** A route distinguisher (RFC 4364, section 4.2). */
export const distinguisherOf = (text: string, offset = 0): Uint8Array => {
  const { type, bytes } = parsePair(text, offset);
  bytes[1] = type;
  return bytes;
};

/** A route target: an extended community (RFC 4360, section 4; RFC 5668). */
export const routeTargetOf = (text: string, offset = 0): Uint8Array => {
  const { type, bytes } = parsePair(text, offset);
  bytes[0] = type;
  bytes[1] = 2;
  return bytes;
};

/** A route distinguisher, or the value of a community of the same form, as it is written. */
export const pairText = (type: number, bytes: Uint8Array, at: number): string => {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, distinguisherBytes);
  if (type === 0) return `${view.getUint16(2)}:${view.getUint32(4)}`;
  const left = type === 1 ? [2, 3, 4, 5].map((i) => view.getUint8(i)).join('.') : view.getUint32(2);
  return `${left}:${view.getUint16(6)}`;
};

export const distinguisherText = (bytes: Uint8Array, at: number): string =>
  pairText(((bytes[at] as number) << 8) | (bytes[at + 1] as number), bytes, at);
