import type { Readable } from 'node:stream';
import type { Blobs, Staged } from '../../store/blobs/blobs.ts';

/** Stored or staged bytes that can be read in any range; `end` is the first byte not read. */
export interface Content {
  readonly size: number;
  read(start: number, end: number): Promise<Readable>;
}

export const storedContent = (blobs: Blobs, { sha256, size }: { sha256: string; size: number }): Content => ({
  size,
  read: (start, end) => blobs.read(sha256, { start, end }),
});

/** Staged content, examined before it is committed. */
export const stagedContent = (blobs: Blobs, staged: Staged): Content => ({
  size: staged.size,
  read: (start, end) => blobs.readStaged(staged, { start, end }),
});

export const headOf = async (content: Content, bytes: number): Promise<Buffer> => {
  const stream = await content.read(0, Math.min(bytes, content.size));
  return Buffer.concat(await stream.toArray());
};

/** The maximum a preview reads, wherever its window begins. */
export const scanBytes = 64 * 1024 * 1024;

/** The content from its beginning, as far as a preview may read; leaving the loop ends the reading. */
export async function* scan(content: Content): AsyncGenerator<Buffer> {
  yield* (await content.read(0, Math.min(scanBytes, content.size))) as AsyncIterable<Buffer>;
}
