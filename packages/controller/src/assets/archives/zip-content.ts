import { pipeline, Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import type { FileEntry } from '@zip.js/zip.js';
import { ArchiveError } from './archive-error.ts';
import type { ReadingContext } from './archive-member.ts';
import { zipErrorOf } from './zip-error.ts';

const stored = 0;
const deflated = 8;

/** The content of a member, every byte counted as it appears, and compared at the end with what was declared. */
export async function* zipContent(name: string, entry: FileEntry, context: ReadingContext): AsyncGenerator<Uint8Array> {
  const { meter } = context;
  if (context.within.length === 0) meter.addInput(entry.compressedSize);
  let size = 0;
  let sum = 0;
  try {
    for await (const chunk of unpacked(name, entry, context.password)) {
      size += chunk.length;
      if (size > entry.uncompressedSize) throw sizeMismatch(name, entry);
      meter.requireRatio(size, entry.compressedSize, name);
      meter.addOutput(chunk.length, name);
      sum = crc32(chunk, sum);
      yield chunk;
    }
    if (size < entry.uncompressedSize) throw sizeMismatch(name, entry);
    if (hasChecksum(entry) && sum !== entry.crc32) {
      throw new ArchiveError('BAD_CHECKSUM', name, 'the checksum of the content is wrong');
    }
  } catch (error) {
    throw zipErrorOf(error, name, entry.zipCrypto);
  }
}

async function* unpacked(name: string, entry: FileEntry, password: string | undefined): AsyncGenerator<Uint8Array> {
  const packed = decrypted(entry, password);
  if (entry.compressionMethod === stored) return yield* packed;
  if (entry.compressionMethod !== deflated) {
    throw new ArchiveError('UNSUPPORTED_ARCHIVE', name, 'the kind of compression is not supported');
  }
  const inflate = createInflateRaw({ chunkSize: 64 * 1024 });
  let packedSize = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of packed) {
      packedSize += chunk.length;
      yield chunk;
    }
  }
  pipeline(Readable.from(counted(), { objectMode: false }), inflate, () => {});
  try {
    yield* inflate;
  } finally {
    inflate.destroy();
  }
  if (inflate.bytesWritten !== packedSize) {
    throw new ArchiveError('BAD_ARCHIVE', name, 'bytes follow the end of the compressed data');
  }
}

/** What is stored, still packed. */
async function* decrypted(entry: FileEntry, password: string | undefined): AsyncGenerator<Uint8Array> {
  const abort = new AbortController();
  const channel = new TransformStream<Uint8Array, Uint8Array>();
  const options = {
    passThrough: 'compressed' as const,
    checkAuthenticationCode: true,
    useWebWorkers: false,
    signal: abort.signal,
    ...(password ? { password } : {}),
  };
  const outcome = entry.getData(channel.writable, options).then(
    () => undefined,
    async (error: unknown) => {
      // Zip.js leaves the channel open where it fails before the first byte.
      await channel.writable.abort(error).catch(() => undefined);
      return error;
    },
  );
  try {
    yield* channel.readable;
  } catch (error) {
    throw (await outcome) ?? error;
  } finally {
    abort.abort();
  }
  const failure = await outcome;
  if (failure !== undefined) throw failure;
}

/** The second kind of AES encryption leaves the checksum out, having a better one. */
function hasChecksum(entry: FileEntry): boolean {
  return entry.crc32 !== undefined && entry.extraFieldAES?.vendorVersion !== 2;
}

function sizeMismatch(name: string, entry: FileEntry): ArchiveError {
  return new ArchiveError('SIZE_MISMATCH', name, `the content is not the ${entry.uncompressedSize} bytes declared`);
}
