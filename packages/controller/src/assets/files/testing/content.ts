import { Readable } from 'node:stream';
import type { Content } from '../content.ts';

/** Content in memory that counts the bytes read, in chunks of any size. */
export const contentOf = (source: string | Uint8Array, chunkBytes = 64 * 1024) => {
  const bytes = Buffer.from(source as Uint8Array);
  const counted = { readBytes: 0 };
  const content: Content = {
    size: bytes.length,
    read: async (start, end) => {
      async function* chunks() {
        for (let at = start; at < end; at += chunkBytes) {
          const chunk = bytes.subarray(at, Math.min(at + chunkBytes, end));
          counted.readBytes += chunk.length;
          yield chunk;
        }
      }
      return Readable.from(chunks());
    },
  };
  return Object.assign(counted, content);
};
