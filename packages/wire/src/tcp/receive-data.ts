import type { Piece } from '../bytes/piece-pool.ts';
import { type TcpConnection, tcpState } from './connection.ts';
import type { TcpContext } from './context.ts';
import { enterTimeWait } from './end.ts';
import { emitAck } from './output.ts';
import { type Segment, tcpFlag } from './segment/segment.ts';
import { distance, isAfter, isBefore } from './segment/sequence.ts';

/** Full segments that one acknowledgement may answer. */
const maxCombined = 8;

const endOf = (piece: Piece): number => (piece.seq + piece.end - piece.start) | 0;

/** Copies bytes into pieces behind the last held one. Returns how many found room. */
const hold = (context: TcpContext, c: TcpConnection, bytes: Uint8Array, start: number, end: number): number => {
  let from = start;
  while (from < end) {
    let tail = c.rcvTail;
    if (c.rcvHead === undefined || tail === undefined || tail.end === tail.bytes.length) {
      const piece = context.pieces.takeOwned();
      if (piece === undefined) break;
      if (c.rcvHead === undefined) c.rcvHead = piece;
      else if (tail !== undefined) tail.next = piece;
      c.rcvTail = piece;
      tail = piece;
    }
    const length = Math.min(end - from, tail.bytes.length - tail.end);
    tail.bytes.set(bytes.subarray(from, from + length), tail.end);
    tail.end += length;
    from += length;
  }
  c.rcvHeld += from - start;
  return from - start;
};

/** Takes bytes that are next in order, without urgent data, as Linux does. */
const deliver = (context: TcpContext, c: TcpConnection, bytes: Uint8Array, start: number, end: number): boolean => {
  const before = c.hasUrgent ? distance(c.urgentAt, c.rcvNxt) : -1;
  if (before < 0 || before >= end - start) return take(context, c, bytes, start, end);
  if (before > 0 && !take(context, c, bytes, start, start + before)) return false;
  c.hasUrgent = false;
  c.rcvNxt = (c.rcvNxt + 1) | 0;
  c.unacknowledged++;
  const rest = start + before + 1;
  return rest === end || take(context, c, bytes, rest, end);
};

/** Takes bytes for the application. Returns false if there is no memory for them: they stay unacknowledged. */
const take = (context: TcpContext, c: TcpConnection, bytes: Uint8Array, start: number, end: number): boolean => {
  let taken = end - start;
  if (c.isPaused || c.rcvHead !== undefined) taken = hold(context, c, bytes, start, end);
  c.rcvNxt = (c.rcvNxt + taken) | 0;
  c.unacknowledged += taken;
  if (!c.isPaused && c.rcvHead === undefined) c.events.onData(c, bytes, start, end);
  return taken === end - start && c.state !== tcpState.closed;
};

/** Gives held bytes to the application after a pause, and announces the window that became free. */
export const resumeReading = (context: TcpContext, c: TcpConnection): void => {
  c.isPaused = false;
  while (c.rcvHead !== undefined && !c.isPaused && c.state !== tcpState.closed) {
    const piece: Piece = c.rcvHead;
    c.rcvHead = piece.next;
    c.rcvHeld -= piece.end - piece.start;
    c.events.onData(c, piece.bytes, piece.start, piece.end);
    context.pieces.release(piece);
  }
  if (c.state === tcpState.closed || c.isPaused) return;
  c.rcvTail = undefined;
  c.mustAck = true;
  context.touch(c);
  if (c.isFinReceived) c.events.onEnd(c);
};

/** Delivers early data that is in order now. */
const drainEarly = (context: TcpContext, c: TcpConnection): void => {
  for (let piece = c.earlyHead; piece !== undefined && !isAfter(piece.seq, c.rcvNxt); piece = c.earlyHead) {
    const skip = distance(c.rcvNxt, piece.seq);
    if (skip < piece.end - piece.start) {
      const before = c.rcvNxt;
      if (!deliver(context, c, piece.bytes, piece.start + skip, piece.end)) {
        // A connection that ended has released the list; one without memory keeps the rest for later.
        if (c.state === tcpState.closed || c.rcvNxt === before) return;
      }
      if (isBefore(c.rcvNxt, endOf(piece))) return;
    }
    c.earlyHead = piece.next;
    if (c.earlyHead === undefined) c.earlyTail = undefined;
    context.pieces.release(piece);
  }
};

/** Stores [seq, end) of the bytes where nothing is stored yet. Existing data wins over what overlaps it. */
const storeEarly = (
  context: TcpContext,
  c: TcpConnection,
  seq: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean => {
  const isBehind = c.earlyTail !== undefined && !isBefore(seq, endOf(c.earlyTail));
  let previous: Piece | undefined = isBehind ? c.earlyTail : undefined;
  let next = isBehind ? undefined : c.earlyHead;
  let at = seq;
  let from = start;
  let isNew = false;
  while (from < end) {
    while (next !== undefined && !isAfter(endOf(next), at)) {
      previous = next;
      next = next.next;
    }
    if (next !== undefined && !isAfter(next.seq, at)) {
      const skip = Math.min(distance(endOf(next), at), end - from);
      at = (at + skip) | 0;
      from += skip;
      continue;
    }
    const gap = next === undefined ? end - from : Math.min(distance(next.seq, at), end - from);
    const piece = context.pieces.takeOwned();
    if (piece === undefined) {
      context.counters.earlyDropped++;
      return isNew;
    }
    const length = Math.min(gap, piece.bytes.length);
    piece.bytes.set(bytes.subarray(from, from + length), 0);
    piece.end = length;
    piece.seq = at;
    piece.next = next;
    if (previous === undefined) c.earlyHead = piece;
    else previous.next = piece;
    if (next === undefined) c.earlyTail = piece;
    previous = piece;
    at = (at + length) | 0;
    from += length;
    isNew = true;
  }
  return isNew;
};

/** The peer sends nothing more. Data before the FIN was delivered. */
const acceptFin = (context: TcpContext, c: TcpConnection): void => {
  c.rcvNxt = (c.rcvNxt + 1) | 0;
  c.isFinReceived = true;
  c.hasEarlyFin = false;
  c.mustAck = true;
  context.touch(c);
  if (c.state === tcpState.finWait2) {
    // The connection ends here, so a pause can last no longer.
    if (c.rcvHead === undefined) c.events.onEnd(c);
    else resumeReading(context, c);
    if ((c.state as number) !== tcpState.closed) enterTimeWait(context, c);
    return;
  }
  if (c.state === tcpState.established) c.state = tcpState.closeWait;
  else if (c.state === tcpState.finWait1) c.state = tcpState.closing;
  if (c.rcvHead === undefined) c.events.onEnd(c);
};

/** Payload from which on a pushed segment is the end of a longer message. */
const bulkSegment = 1000;

const scheduleAck = (context: TcpContext, c: TcpConnection): void => {
  const { delayedAckMs } = c.settings;
  // The sender of a long message waits for its last acknowledgement, and would probe for it.
  const isEndOfMessage = c.rcvMss >= bulkSegment && (context.segment.flags & tcpFlag.psh) !== 0;
  // Acknowledgements of one batch are combined, but only so many: the peer counts on them to go on.
  if (c.unacknowledged >= maxCombined * c.rcvMss) emitAck(context, c);
  else if (c.unacknowledged >= 2 * c.rcvMss || delayedAckMs === 0 || isEndOfMessage) c.mustAck = true;
  else if (c.delayedAckAt === 0) {
    c.delayedAckAt = context.nowMs + delayedAckMs;
    context.wake(c, c.delayedAckAt);
  }
};

const noteUrgent = (c: TcpConnection, at: number): void => {
  if (c.hasUrgent || isBefore(at, c.rcvNxt)) return;
  c.hasUrgent = true;
  c.urgentAt = at;
};

/** Handles payload and FIN of an acceptable segment. */
export const receiveData = (context: TcpContext, c: TcpConnection, segment: Segment, bytes: Uint8Array): void => {
  let { seq, dataStart, dataEnd } = segment;
  const hasFin = (segment.flags & tcpFlag.fin) !== 0;
  const finSeq = (seq + dataEnd - dataStart) | 0;
  if (segment.urgent > 0) noteUrgent(c, (seq + segment.urgent - 1) | 0);
  // A kernel on the same machine hands over several segments in one.
  const size = Math.min(dataEnd - dataStart, c.pathMtu - (c.isV6 ? 60 : 40));
  if (size > c.rcvMss) c.rcvMss = size;
  const excess = distance(finSeq, c.rcvAdvertised);
  if (excess > 0) dataEnd -= excess;
  const old = distance(c.rcvNxt, seq);
  if (old > 0) {
    if (dataEnd > dataStart) {
      c.mustAck = true;
      c.duplicateStart = seq;
      c.duplicateEnd = (seq + Math.min(old, dataEnd - dataStart)) | 0;
    }
    seq = c.rcvNxt;
    dataStart += old;
  }
  if (dataEnd > dataStart) {
    if (seq === c.rcvNxt) {
      if (!deliver(context, c, bytes, dataStart, dataEnd) && c.state === tcpState.closed) return;
      if (c.earlyHead !== undefined) {
        drainEarly(context, c);
        if (c.state === tcpState.closed) return;
        c.mustAck = true;
      }
      scheduleAck(context, c);
    } else receiveEarly(context, c, seq, bytes, dataStart, dataEnd);
  }
  if (hasFin && excess < 0 && !c.isFinReceived) {
    c.hasEarlyFin = true;
    c.earlyFin = finSeq;
    if (isAfter(finSeq, c.rcvNxt)) c.mustAck = true;
  }
  if (c.hasEarlyFin && c.earlyFin === c.rcvNxt) acceptFin(context, c);
};

/**
 * Out of order: stored, and acknowledged at once so that the peer sees the gap. What only makes the last run longer is
 * acknowledged like data in order, but not later than all segments at hand: a SACK block says it of all of them.
 */
const receiveEarly = (
  context: TcpContext,
  c: TcpConnection,
  seq: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): void => {
  const isNext = c.usesSack && c.earlyTail !== undefined && seq === endOf(c.earlyTail);
  if (storeEarly(context, c, seq, bytes, start, end)) {
    c.earlyLatest = seq;
    c.unacknowledged += end - start;
    if (isNext && c.unacknowledged < maxCombined * c.rcvMss) {
      c.mustAck = true;
      return;
    }
  } else {
    c.duplicateStart = seq;
    c.duplicateEnd = (seq + end - start) | 0;
  }
  emitAck(context, c);
};
