import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { BlobError } from './blob-error.ts';
import type { ByteRange } from './blobs.ts';

/**
 * Sealed content: header, then chunks of 64 KiB, each AES-256-GCM with its tag behind it, so that any range can be read
 * and checked without the rest. Header: magic 8, salt 16, plain size u64be 8, tag 16. The header's tag covers the size
 * and the sha256 of the content: neither a cut nor an exchanged file opens.
 */
const magic = Buffer.from('RHSEAL1\n');
const saltBytes = 16;
const tagBytes = 16;
const headerBytes = magic.length + saltBytes + 8 + tagBytes;
export const chunkBytes = 64 * 1024;
const sealedChunkBytes = chunkBytes + tagBytes;

/** The content key of one file; its salt makes it used for that file alone, so a chunk's number can be its nonce. */
const contentKey = (key: Uint8Array, salt: Uint8Array) =>
  Buffer.from(hkdfSync('sha256', key, salt, 'rushhour sealed content', 32));

const nonceOf = (chunk: number) => {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(chunk), 4);
  return nonce;
};
const headerNonce = Buffer.alloc(12, 0xff);

export const sealedSizeOf = (plainSize: number) =>
  headerBytes + plainSize + Math.ceil(plainSize / chunkBytes) * tagBytes;

export const plainSizeOf = (sealedSize: number) => {
  const body = Math.max(0, sealedSize - headerBytes);
  return body - Math.ceil(body / sealedChunkBytes) * tagBytes;
};

export interface Sealer {
  /** Seals the next bytes into `target`; only the last call may end inside a chunk. Answers where they belong. */
  seal(plain: Uint8Array, target: Buffer): { bytes: Buffer; position: number };
  /** The header, which goes to position 0 once size and hash are known. */
  header(size: number, sha256: string): Buffer;
}

export const createSealer = (key: Uint8Array): Sealer => {
  const salt = randomBytes(saltBytes);
  const secret = contentKey(key, salt);
  let chunk = 0;
  const seal: Sealer['seal'] = (plain, target) => {
    const position = headerBytes + chunk * sealedChunkBytes;
    let used = 0;
    for (let at = 0; at < plain.length; at += chunkBytes) {
      const cipher = createCipheriv('aes-256-gcm', secret, nonceOf(chunk++));
      used += cipher.update(plain.subarray(at, at + chunkBytes)).copy(target, used);
      cipher.final();
      used += cipher.getAuthTag().copy(target, used);
    }
    return { bytes: target.subarray(0, used), position };
  };
  const header: Sealer['header'] = (size, sha256) => {
    const clear = Buffer.concat([magic, salt, Buffer.alloc(8)]);
    clear.writeBigUInt64BE(BigInt(size), magic.length + saltBytes);
    return Buffer.concat([clear, headerTag(secret, clear, sha256)]);
  };
  return { seal, header };
};

const headerTag = (secret: Uint8Array, clear: Uint8Array, sha256: string) => {
  const cipher = createCipheriv('aes-256-gcm', secret, headerNonce);
  cipher.setAAD(Buffer.concat([clear, Buffer.from(sha256, 'hex')]));
  cipher.final();
  return cipher.getAuthTag();
};

/** Reads bytes as they are kept; `end` is the first byte not read. */
export type ReadSealed = (start: number, end: number) => Promise<Readable>;

const corrupt = (sha256: string, cause?: unknown) =>
  new BlobError('CORRUPT', 'stored content does not open with this key', { sha256 }, { cause });

const openHeader = async (read: ReadSealed, key: Uint8Array, sha256: string) => {
  const header = await collect(await read(0, headerBytes));
  const clear = header.subarray(0, headerBytes - tagBytes);
  const secret = contentKey(key, header.subarray(magic.length, magic.length + saltBytes));
  const isGenuine =
    header.length === headerBytes &&
    magic.equals(header.subarray(0, magic.length)) &&
    headerTag(secret, clear, sha256).equals(header.subarray(headerBytes - tagBytes));
  if (!isGenuine) throw corrupt(sha256);
  return { secret, size: Number(header.readBigUInt64BE(magic.length + saltBytes)) };
};

const collect = async (stream: Readable) => Buffer.concat(await stream.toArray());

/** A stream of the plain bytes of a range. The header is checked before it resolves, each chunk before it is given out. */
export const openSealed = async (read: ReadSealed, key: Uint8Array, sha256: string, range: ByteRange = {}) => {
  const { secret, size } = await openHeader(read, key, sha256);
  const start = Math.min(range.start ?? 0, size);
  const end = Math.min(range.end ?? size, size);
  if (start >= end) return Readable.from([]);
  const first = Math.floor(start / chunkBytes);
  const sealedEnd = sealedSizeOf(Math.min(size, Math.ceil(end / chunkBytes) * chunkBytes));
  const sealed = await read(headerBytes + first * sealedChunkBytes, sealedEnd);

  const openChunk = (chunk: number, bytes: Buffer) => {
    const expected = Math.min(chunkBytes, size - chunk * chunkBytes) + tagBytes;
    if (bytes.length !== expected) throw corrupt(sha256);
    const decipher = createDecipheriv('aes-256-gcm', secret, nonceOf(chunk));
    decipher.setAuthTag(bytes.subarray(bytes.length - tagBytes));
    const plain = decipher.update(bytes.subarray(0, bytes.length - tagBytes));
    try {
      decipher.final();
    } catch (cause) {
      throw corrupt(sha256, cause);
    }
    const offset = chunk * chunkBytes;
    return plain.subarray(Math.max(0, start - offset), Math.max(0, end - offset));
  };

  async function* openAll() {
    let chunk = first;
    for await (const bytes of inPieces(sealed, sealedChunkBytes)) yield openChunk(chunk++, bytes);
    if (chunk * chunkBytes < end) throw corrupt(sha256);
  }
  return Readable.from(openAll(), { objectMode: false });
};

/** The same bytes in pieces of one length; the last may be shorter. */
async function* inPieces(stream: Readable, length: number) {
  const piece = Buffer.alloc(length);
  let filled = 0;
  for await (const bytes of stream as AsyncIterable<Buffer>) {
    for (let taken = 0; taken < bytes.length; ) {
      const copied = bytes.copy(piece, filled, taken);
      taken += copied;
      filled += copied;
      if (filled < length) continue;
      yield piece;
      filled = 0;
    }
  }
  if (filled > 0) yield piece.subarray(0, filled);
}
