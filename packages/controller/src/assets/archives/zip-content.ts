import { pipeline, Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import type { FileEntry } from '@zip.js/zip.js';
import * as zip from '@zip.js/zip.js';
import { ArchiveError, type ArchiveErrorCode } from './archive-error.ts';
import type { ReadingContext } from './archive-member.ts';

const meanings = new Map<string, [ArchiveErrorCode, string]>([
  [zip.ERR_BAD_FORMAT, ['BAD_ARCHIVE', 'the file is not a readable zip archive']],
  [zip.ERR_EOCDR_NOT_FOUND, ['TRUNCATED_ARCHIVE', 'the end of the zip archive is missing']],
  [zip.ERR_EOCDR_LOCATOR_ZIP64_NOT_FOUND, ['BAD_ARCHIVE', 'the zip64 record is missing']],
  [zip.ERR_CENTRAL_DIRECTORY_NOT_FOUND, ['BAD_ARCHIVE', 'the list of members is damaged']],
  [zip.ERR_LOCAL_FILE_HEADER_NOT_FOUND, ['BAD_ARCHIVE', 'the member is not where the list says']],
  [zip.ERR_EXTRAFIELD_ZIP64_NOT_FOUND, ['BAD_ARCHIVE', 'the zip64 sizes are missing']],
  [zip.ERR_UNSUPPORTED_UINT64, ['BAD_ARCHIVE', 'a size is out of range']],
  [zip.ERR_ENTRY_DATA_OUT_OF_BOUNDS, ['SIZE_MISMATCH', 'the data would reach beyond the archive']],
  [zip.ERR_AMBIGUOUS_ARCHIVE, ['AMBIGUOUS_ARCHIVE', 'other programs would read the archive differently']],
  [zip.ERR_OVERLAPPING_ENTRY, ['OVERLAPPING_MEMBERS', 'the data overlaps that of another member']],
  [zip.ERR_INVALID_UNCOMPRESSED_SIZE, ['SIZE_MISMATCH', 'the content is not as long as declared']],
  [zip.ERR_INVALID_CRC32, ['BAD_CHECKSUM', 'the checksum of the content is wrong']],
  [zip.ERR_INVALID_AUTHENTICATION_CODE, ['BAD_CHECKSUM', 'the encrypted content has been changed']],
  [zip.ERR_INVALID_COMPRESSED_DATA, ['BAD_ARCHIVE', 'the compressed data is damaged']],
  [zip.ERR_ENCRYPTED, ['ARCHIVE_PASSWORD_REQUIRED', 'the member is encrypted: its password is needed']],
  [zip.ERR_INVALID_PASSWORD, ['BAD_ARCHIVE_PASSWORD', 'the password does not open the member']],
  [zip.ERR_UNSUPPORTED_ENCRYPTION, ['UNSUPPORTED_ARCHIVE', 'the kind of encryption is not supported']],
  [zip.ERR_ENCRYPTED_CENTRAL_DIRECTORY, ['UNSUPPORTED_ARCHIVE', 'encrypted lists of members are not supported']],
  [zip.ERR_UNSUPPORTED_COMPRESSION, ['UNSUPPORTED_ARCHIVE', 'the kind of compression is not supported']],
  [zip.ERR_SPLIT_ZIP_FILE, ['UNSUPPORTED_ARCHIVE', 'split archives are not supported']],
]);
// ZipCrypto checks one byte of the password: one wrong password in 256 shows itself only in what it unpacks.
const signsOfWrongPassword: ReadonlySet<ArchiveErrorCode> = new Set(['BAD_CHECKSUM', 'BAD_ARCHIVE', 'SIZE_MISMATCH']);

/** Translates an error of zip.js. */
export function zipErrorOf(cause: unknown, member: string, isZipCrypto = false): ArchiveError {
  const error = cause instanceof ArchiveError ? cause : translated(cause, member);
  if (!isZipCrypto || !signsOfWrongPassword.has(error.code)) return error;
  return new ArchiveError('BAD_ARCHIVE_PASSWORD', member, 'the password is wrong or the member is damaged', { cause });
}

function translated(cause: unknown, member: string): ArchiveError {
  const { message = '', reason } = cause as { message?: string; reason?: string };
  const [code, text] = meanings.get(message) ?? ['BAD_ARCHIVE', 'the zip archive cannot be read'];
  return new ArchiveError(code, member, reason ? `${text} (${reason})` : text, { cause });
}

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
      // zip.js leaves the channel open when it fails before the first byte.
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
