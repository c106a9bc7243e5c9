import { Readable } from 'node:stream';
import type { Content } from '../content.ts';

/** Content in memory that counts what is read of it, in chunks as small as wanted to tear everything apart. */
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
