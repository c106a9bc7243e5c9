import { formatAddress, parseAddress, readAddress6, writeAddress6, writeMapped } from '../ip/address.ts';

/** 4 or 16 bytes of an address in text form. */
export const bytesOfAddress = (text: string): Uint8Array => {
  const words = parseAddress(text);
  const bytes = new Uint8Array(text.includes(':') ? 16 : 4);
  const view = new DataView(bytes.buffer);
  if (bytes.length === 4) view.setInt32(0, words[3] as number);
  else writeAddress6(view, 0, words, 0);
  return bytes;
};

export const textOfAddress = (bytes: Uint8Array): string => {
  const words = new Int32Array(4);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length === 4) writeMapped(words, 0, view.getInt32(0));
  else readAddress6(view, 0, words, 0);
  return formatAddress(words);
};

/** Positive if `a` is the higher address of two of the same version. */
export const compareAddresses = (a: Uint8Array, b: Uint8Array): number => {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return (a[i] as number) - (b[i] as number);
  return 0;
};
