import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const forms = { plain: 0, zstd: 1 } as const;

const tagged = (form: number, bytes: Uint8Array) => {
  const all = new Uint8Array(bytes.length + 1);
  all[0] = form;
  all.set(bytes, 1);
  return all;
};

/** As it is stored at first: the seconds of a moment are too few to be worth the time. */
export const storedPlain = (bytes: Uint8Array) => tagged(forms.plain, bytes);

/** As it is stored for good. A minute takes half a millisecond: less than to hand it to another thread. */
export const storedSqueezed = (bytes: Uint8Array) =>
  tagged(forms.zstd, zstdCompressSync(bytes, { pledgedSrcSize: bytes.length }));

export const packedOf = (stored: Uint8Array): Uint8Array =>
  stored[0] === forms.zstd ? zstdDecompressSync(stored.subarray(1)) : stored.subarray(1);
