import type { Piece, PiecePool } from '../../bytes/piece-pool.ts';
import type { SummedBytes } from '../../bytes/summed-bytes.ts';
import type { TcpConnection } from '../connection.ts';
import { distance, isAfter, isBefore } from '../segment/sequence.ts';

const append = (c: TcpConnection, piece: Piece): void => {
  piece.seq = c.queueEnd;
  if (c.sendTail === undefined) c.sendHead = piece;
  else c.sendTail.next = piece;
  c.sendTail = piece;
  c.sendCursor ??= piece;
};

/** Queues bytes of the caller, who must not change them until they are acknowledged. */
export const queueReference = (
  c: TcpConnection,
  pool: PiecePool,
  bytes: Uint8Array,
  start: number,
  end: number,
): void => {
  if (end <= start) return;
  append(c, pool.takeReference(bytes, start, end));
  c.queueEnd = (c.queueEnd + end - start) | 0;
};

/** Queues bytes that never change, whose sums are known. */
export const queueSummed = (c: TcpConnection, pool: PiecePool, summed: SummedBytes): void => {
  const { bytes } = summed;
  if (bytes.length === 0) return;
  const piece = pool.takeReference(bytes, 0, bytes.length);
  piece.summed = summed;
  append(c, piece);
  c.queueEnd = (c.queueEnd + bytes.length) | 0;
};

/** Queues a copy of bytes. Small writes share a piece. Returns how many bytes found room. */
export const queueCopy = (c: TcpConnection, pool: PiecePool, bytes: Uint8Array): number => {
  let from = 0;
  while (from < bytes.length) {
    let tail = c.sendTail;
    if (tail === undefined || !tail.isOwned || tail.end === tail.bytes.length) {
      tail = pool.takeOwned();
      if (tail === undefined) return from;
      append(c, tail);
    }
    const length = Math.min(bytes.length - from, tail.bytes.length - tail.end);
    tail.bytes.set(from === 0 && length === bytes.length ? bytes : bytes.subarray(from, from + length), tail.end);
    tail.end += length;
    from += length;
    c.queueEnd = (c.queueEnd + length) | 0;
  }
  return from;
};

/** Copies queued bytes [seq, seq + length) to `at` of the target. Returns their sum where it is known, else -1. */
export const copyQueued = (c: TcpConnection, seq: number, length: number, target: Uint8Array, at: number): number => {
  let piece = c.sendCursor;
  const isNext = piece !== undefined && !isBefore(seq, piece.seq);
  if (!isNext) piece = c.sendHead;
  let from = seq;
  let to = at;
  let left = length;
  let sum = -1;
  while (left > 0 && piece !== undefined) {
    const skip = distance(from, piece.seq);
    const available = piece.end - piece.start - skip;
    if (available > 0) {
      const take = Math.min(left, available);
      const start = piece.start + skip;
      const { bytes } = piece;
      target.set(start === 0 && take === bytes.length ? bytes : bytes.subarray(start, start + take), to);
      if (take === length && piece.summed !== undefined) sum = piece.summed.sumOf(start, start + take);
      from = (from + take) | 0;
      to += take;
      left -= take;
      if (left === 0) break;
    }
    piece = piece.next;
  }
  if (isNext && piece !== undefined) c.sendCursor = piece;
  return sum;
};

/** Releases pieces that are acknowledged as a whole. */
export const releaseQueued = (c: TcpConnection, pool: PiecePool, ack: number): void => {
  let piece = c.sendHead;
  while (piece !== undefined && !isAfter((piece.seq + piece.end - piece.start) | 0, ack)) {
    const { next } = piece;
    if (c.sendCursor === piece) c.sendCursor = next;
    pool.release(piece);
    piece = next;
  }
  c.sendHead = piece;
  if (piece === undefined) c.sendTail = undefined;
};

export const releaseAllQueued = (c: TcpConnection, pool: PiecePool): void => {
  for (let piece = c.sendHead; piece !== undefined; ) {
    const { next } = piece;
    pool.release(piece);
    piece = next;
  }
  c.sendHead = undefined;
  c.sendTail = undefined;
  c.sendCursor = undefined;
};
