import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ArchiveError } from './archive-error.ts';
import type { ArchiveFormat } from './archive-member.ts';

/** `name` is how a plain .gz calls its one member, without the ending. */
export type ArchiveSource =
  | { readonly path: string; readonly name?: string }
  | { readonly stream: Readable; readonly size: number; readonly name?: string };

export const sniffBytes = 512;

/** Tells the format from the first bytes; tar.gz looks like gz until it is unpacked. */
export function sniffFormat(head: Buffer): Exclude<ArchiveFormat, 'tar.gz'> | undefined {
  const signature = head.length >= 4 ? head.readUInt32LE(0) : 0;
  if (signature === 0x04034b50 || signature === 0x06054b50) return 'zip';
  if (head.length >= 3 && head[0] === 0x1f && head[1] === 0x8b && head[2] === 8) return 'gz';
  if (head.length >= sniffBytes && head.toString('latin1', 257, 262) === 'ustar') return 'tar';
  return undefined;
}

export interface Peeked {
  readonly head: Buffer;
  /** The whole stream again, from its first byte. */
  readonly stream: Readable;
}

/** Reads the first bytes and puts them back. */
export async function peek(stream: Readable, bytes = sniffBytes): Promise<Peeked> {
  const iterator: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  const chunks: Buffer[] = [];
  let length = 0;
  while (length < bytes) {
    const next = await iterator.next();
    if (next.done) break;
    chunks.push(next.value);
    length += next.value.length;
  }
  const head = Buffer.concat(chunks);
  const whole = Readable.from(replay(head, iterator), { objectMode: false });
  whole.once('close', () => stream.destroy());
  return { head: head.subarray(0, bytes), stream: whole };
}

async function* replay(head: Buffer, iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
}

/** Passes on exactly `size` bytes, or fails. */
export async function* exactly(stream: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer> {
  let seen = 0;
  for await (const chunk of stream) {
    seen += chunk.length;
    if (seen > size)
      throw new ArchiveError('SIZE_MISMATCH', '', `the upload is longer than the ${size} bytes announced`);
    yield chunk;
  }
  if (seen < size) throw new ArchiveError('TRUNCATED_ARCHIVE', '', `the upload ends after ${seen} of ${size} bytes`);
}

/** Spools a stream to an unlinked file, which disappears when it is closed. */
export async function spool(stream: AsyncIterable<Buffer>, folder = tmpdir()): Promise<FileHandle> {
  const path = join(folder, `archive-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
    for await (const chunk of stream) await file.appendFile(chunk);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
