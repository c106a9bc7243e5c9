import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ArchiveError } from './archive-error.ts';
import type { ArchiveMeter } from './archive-meter.ts';

/** Counts the bytes of an archive that is not compressed. */
export async function* counted(
  bytes: AsyncIterable<Buffer>,
  meter: ArchiveMeter,
  isOutermost: boolean,
): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    if (isOutermost) meter.addInput(chunk.length);
    meter.addOutput(chunk.length, '');
    yield chunk;
  }
}

/** Unpacks gzip, counting both sides, and stops at the first byte too many. */
export async function* gunzipped(
  bytes: AsyncIterable<Buffer>,
  meter: ArchiveMeter,
  isOutermost: boolean,
): AsyncGenerator<Buffer> {
  let input = 0;
  let output = 0;
  async function* packed(): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      input += chunk.length;
      if (isOutermost) meter.addInput(chunk.length);
      yield chunk;
    }
  }
  const gunzip = createGunzip({ chunkSize: 64 * 1024 });
  pipeline(Readable.from(packed(), { objectMode: false }), gunzip, () => {});
  try {
    for await (const chunk of gunzip) {
      output += chunk.length;
      meter.requireRatio(output, input, '');
      meter.addOutput(chunk.length, '');
      yield chunk;
    }
  } catch (error) {
    throw gzipErrorOf(error);
  } finally {
    gunzip.destroy();
  }
}

function gzipErrorOf(cause: unknown): ArchiveError {
  if (cause instanceof ArchiveError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR')
    return new ArchiveError('TRUNCATED_ARCHIVE', '', 'the gzip data ends in the middle', { cause });
  const isSum = message === 'incorrect data check' || message === 'incorrect length check';
  return isSum
    ? new ArchiveError('BAD_CHECKSUM', '', 'the checksum of the gzip data is wrong', { cause })
    : new ArchiveError('BAD_ARCHIVE', '', 'the gzip data is damaged', { cause });
}
