import { createCipheriv, createDecipheriv } from 'node:crypto';
import { BlobError } from './blob-error.ts';

/**
 * Content sealed as it passes, with a key used for that content alone: pieces of 64 KiB, each AES-256-GCM with its tag
 * behind it. The nonce counts the pieces and marks the last, so that pieces can be neither exchanged nor cut off.
 */
const pieceBytes = 64 * 1024;
const tagBytes = 16;

const nonceOf = (piece: number, isLast: boolean) => {
  const nonce = Buffer.alloc(12);
  nonce[0] = isLast ? 1 : 0;
  nonce.writeBigUInt64BE(BigInt(piece), 4);
  return nonce;
};

interface Piece {
  readonly bytes: Buffer;
  readonly index: number;
  readonly isLast: boolean;
}

/** The same bytes in pieces of one length; at least one, and the last, which may be shorter, is marked. */
async function* inPieces(source: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Piece> {
  let held: Buffer[] = [];
  let size = 0;
  let index = 0;
  for await (const chunk of source) {
    held.push(Buffer.from(chunk));
    size += chunk.length;
    // A whole piece is held back until it is known that more follows.
    while (size > length) {
      const all: Buffer = Buffer.concat(held);
      yield { bytes: all.subarray(0, length), index: index++, isLast: false };
      held = [all.subarray(length)];
      size -= length;
    }
  }
  yield { bytes: Buffer.concat(held), index, isLast: true };
}

export async function* sealStream(key: Uint8Array, source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const { bytes, index, isLast } of inPieces(source, pieceBytes)) {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index, isLast));
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }
}

/** Each piece is checked before it is given out; content that does not open fails with CORRUPT. */
export async function* openStream(key: Uint8Array, source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const { bytes, index, isLast } of inPieces(source, pieceBytes + tagBytes)) {
    if (bytes.length < tagBytes) throw corrupt();
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index, isLast));
    decipher.setAuthTag(bytes.subarray(bytes.length - tagBytes));
    const plain = decipher.update(bytes.subarray(0, bytes.length - tagBytes));
    try {
      decipher.final();
    } catch (cause) {
      throw corrupt(cause);
    }
    yield plain;
  }
}

const corrupt = (cause?: unknown) =>
  new BlobError('CORRUPT', 'sealed content does not open with this key', {}, { cause });
