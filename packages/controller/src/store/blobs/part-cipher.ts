import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Change } from './writers.ts';

const saltBytes = 16;
const blockBytes = 16;

/** Hides the bytes of an unfinished upload. */
export interface PartCipher {
  /** Length of the header, which lies in the file before the content. */
  readonly headerBytes: number;
  createHeader(): Uint8Array;
  /** Its own inverse; any offset, any length. */
  changeOf(header: Uint8Array): Change;
}

export const clearParts: PartCipher = {
  headerBytes: 0,
  createHeader: () => new Uint8Array(),
  changeOf: () => (bytes) => bytes,
};

/**
 * AES-256-CTR, because an upload goes on at any offset. It does not authenticate: the finished upload is hashed whole,
 * and sealed with tags, before anyone sees it.
 */
export const createPartCipher = (key: Uint8Array): PartCipher => ({
  headerBytes: saltBytes,
  createHeader: () => randomBytes(saltBytes),
  changeOf: (salt) => {
    const secret = Buffer.from(hkdfSync('sha256', key, salt, 'rushhour upload part', 32));
    return (bytes, offset) => {
      const counter = Buffer.alloc(blockBytes);
      counter.writeBigUInt64BE(BigInt(Math.floor(offset / blockBytes)), 8);
      const cipher = createCipheriv('aes-256-ctr', secret, counter);
      cipher.update(Buffer.alloc(offset % blockBytes));
      return cipher.update(bytes);
    };
  },
});
