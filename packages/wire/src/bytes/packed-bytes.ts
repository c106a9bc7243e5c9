/**
 * Bytes that are kept for long, as a text with one character for each: a small typed array needs more than 200 bytes of
 * its own.
 */
export type PackedBytes = string & { readonly packed: unique symbol };

const maxArguments = 4096;

export const packBytes = (bytes: Uint8Array): PackedBytes => {
  // A part of a small typed array would make the array itself larger.
  if (bytes.length <= maxArguments) return Reflect.apply(String.fromCharCode, undefined, bytes) as PackedBytes;
  let text = '';
  for (let at = 0; at < bytes.length; at += maxArguments) {
    text += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(at, at + maxArguments)) as string;
  }
  return text as PackedBytes;
};

export const unpackBytes = (packed: PackedBytes): Uint8Array => {
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  return bytes;
};
