import type { TcpConnection } from '../connection.ts';
import { distance, isAfter, isBefore } from '../segment/sequence.ts';
import { historyOf } from './congestion.ts';
import { type SentSegment, type SentSegmentPool, sentMark } from './sent-segment.ts';

export const appendSent = (c: TcpConnection, segment: SentSegment): void => {
  if (c.sentTail === undefined) c.sentHead = segment;
  else c.sentTail.next = segment;
  c.sentTail = segment;
};

export const releaseSent = (c: TcpConnection, pool: SentSegmentPool): void => {
  for (let segment = c.sentHead; segment !== undefined; ) {
    const { next } = segment;
    pool.release(segment);
    segment = next;
  }
  c.sentHead = undefined;
  c.sentTail = undefined;
  c.history?.sacks.clear();
  c.sackedBytes = 0;
  c.lostBytes = 0;
  c.retransmittedBytes = 0;
};

/** Takes the bytes of a segment, or of its acknowledged beginning, out of the counts of its marks. */
const uncount = (c: TcpConnection, marks: number, bytes: number): void => {
  if ((marks & sentMark.sacked) !== 0) c.sackedBytes -= bytes;
  if ((marks & sentMark.lost) !== 0) c.lostBytes -= bytes;
  if ((marks & sentMark.retransmitted) !== 0) c.retransmittedBytes -= bytes;
};

/** What an acknowledgement said about segments sent before. */
export class Delivery {
  /** Bytes newly acknowledged or selectively acknowledged. */
  bytes = 0;
  /** Round-trip time of the oldest segment newly acknowledged and sent once, microseconds; -1: none. */
  rtt = -1;
  /** Sequence number of the lowest newly delivered segment never sent twice; valid if hasReordered. */
  hasReordered = false;
  newlySacked = 0;

  reset(): void {
    this.bytes = 0;
    this.rtt = -1;
    this.hasReordered = false;
    this.newlySacked = 0;
  }
}

/** RACK (RFC 8985, 6.2 step 2): remembers the latest sent segment that was delivered. */
const noteDelivered = (c: TcpConnection, segment: SentSegment, nowUs: number, delivery: Delivery): void => {
  const rtt = (nowUs - segment.sentAt) | 0;
  if ((segment.marks & sentMark.everRetransmitted) !== 0) {
    // Probably the acknowledgement of the first transmission.
    if (rtt < c.minRtt) return;
  } else {
    if (delivery.rtt < 0) delivery.rtt = rtt;
    if (c.minRtt === 0 || rtt < c.minRtt) c.minRtt = Math.max(rtt, 1);
    if (isBefore(segment.end, c.rackEnd) && c.rackRtt > 0 && isBefore(segment.end, c.highestSacked))
      delivery.hasReordered = true;
  }
  const newer = (segment.sentAt - c.rackSentAt) | 0;
  if (c.rackRtt === 0 || newer > 0 || (newer === 0 && isAfter(segment.end, c.rackEnd))) {
    c.rackSentAt = segment.sentAt;
    c.rackEnd = segment.end;
    c.rackRtt = Math.max(rtt, 1);
  }
};

/** Removes what is cumulatively acknowledged. */
export const acknowledgeSent = (
  c: TcpConnection,
  pool: SentSegmentPool,
  ack: number,
  nowUs: number,
  delivery: Delivery,
): void => {
  let segment = c.sentHead;
  while (segment !== undefined && !isAfter(segment.end, ack)) {
    const bytes = distance(segment.end, segment.seq);
    if ((segment.marks & sentMark.sacked) === 0) {
      delivery.bytes += bytes;
      noteDelivered(c, segment, nowUs, delivery);
    }
    uncount(c, segment.marks, bytes);
    const { next } = segment;
    c.history?.sacks.forget(segment);
    pool.release(segment);
    segment = next;
  }
  c.sentHead = segment;
  if (segment === undefined) c.sentTail = undefined;
  else if (isBefore(segment.seq, ack)) {
    const bytes = distance(ack, segment.seq);
    if ((segment.marks & sentMark.sacked) === 0) delivery.bytes += bytes;
    uncount(c, segment.marks, bytes);
    segment.seq = ack;
  }
};

/** Marks segments that lie wholly inside a SACK block. `isLatest`: the block is the one that grew. */
export const markSacked = (
  c: TcpConnection,
  block: { readonly start: number; readonly end: number; readonly isLatest: boolean },
  nowUs: number,
  delivery: Delivery,
): void => {
  const { start, end, isLatest } = block;
  const { sacks } = historyOf(c);
  for (let segment = sacks.resume(c.sentHead, start); segment !== undefined; segment = segment.next) {
    if (!isBefore(segment.seq, end)) return;
    if (isBefore(segment.seq, start) || isAfter(segment.end, end)) continue;
    if (isLatest) sacks.noteMarked(start, segment);
    if ((segment.marks & sentMark.sacked) !== 0) continue;
    const bytes = distance(segment.end, segment.seq);
    delivery.bytes += bytes;
    delivery.newlySacked += bytes;
    noteDelivered(c, segment, nowUs, delivery);
    uncount(c, segment.marks, bytes);
    segment.marks = (segment.marks & ~(sentMark.lost | sentMark.retransmitted)) | sentMark.sacked;
    c.sackedBytes += bytes;
    if (isAfter(segment.end, c.highestSacked)) c.highestSacked = segment.end;
  }
};

/** Marks a segment as lost; its repetition too, if one was out. */
export const markLost = (c: TcpConnection, segment: SentSegment): void => {
  const bytes = distance(segment.end, segment.seq);
  if ((segment.marks & sentMark.retransmitted) !== 0) {
    c.retransmittedBytes -= bytes;
    segment.marks &= ~sentMark.retransmitted;
  }
  if ((segment.marks & sentMark.lost) === 0) {
    c.lostBytes += bytes;
    segment.marks |= sentMark.lost;
  }
};

/** Marks everything outstanding as lost (RFC 6298, 5.4); selective acknowledgements are forgotten if told so. */
export const markAllLost = (c: TcpConnection, forgetsSacks: boolean): void => {
  if (forgetsSacks) c.history?.sacks.clear();
  for (let segment = c.sentHead; segment !== undefined; segment = segment.next) {
    if ((segment.marks & sentMark.sacked) !== 0) {
      if (!forgetsSacks) continue;
      segment.marks &= ~sentMark.sacked;
      c.sackedBytes -= distance(segment.end, segment.seq);
    }
    markLost(c, segment);
  }
};

/** Cuts a segment after `bytes`, so that it fits a smaller MSS. */
export const splitSent = (c: TcpConnection, pool: SentSegmentPool, segment: SentSegment, bytes: number): void => {
  const rest = pool.take((segment.seq + bytes) | 0, segment.end, segment.sentAt);
  rest.marks = segment.marks;
  segment.end = rest.seq;
  segment.marks &= ~(sentMark.fin | sentMark.urgent);
  rest.next = segment.next;
  segment.next = rest;
  if (c.sentTail === segment) c.sentTail = rest;
};
