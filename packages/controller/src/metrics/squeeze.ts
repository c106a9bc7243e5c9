import { promisify } from 'node:util';
import { zstdCompress, zstdDecompressSync } from 'node:zlib';

const compress = promisify(zstdCompress);
const forms = { plain: 0, zstd: 1 } as const;

const tagged = (form: number, bytes: Uint8Array) => {
  const all = new Uint8Array(bytes.length + 1);
  all[0] = form;
  all.set(bytes, 1);
  return all;
};

/** As it is stored at first: the seconds of a moment are too few to be worth the time. */
export const storedPlain = (bytes: Uint8Array) => tagged(forms.plain, bytes);

/** As it is stored for good. Done on another thread. */
export const storedSqueezed = async (bytes: Uint8Array) => tagged(forms.zstd, await compress(bytes));

export const packedOf = (stored: Uint8Array): Uint8Array =>
  stored[0] === forms.zstd ? zstdDecompressSync(stored.subarray(1)) : stored.subarray(1);
