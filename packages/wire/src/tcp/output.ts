import { checksumOf, sumBytes } from '../bytes/checksum.ts';
import { sendBurst } from './burst.ts';
import { recoveryPhase, retransmitTimer, type TcpConnection, tcpState } from './connection.ts';
import type { TcpContext } from './context.ts';
import { historyOf } from './loss/congestion.ts';
import { backedOffRto } from './loss/rtt.ts';
import { appendSent, splitSent } from './loss/scoreboard.ts';
import { copyQueued } from './loss/send-queue.ts';
import { type SentSegment, sentMark } from './loss/sent-segment.ts';
import { windowToAnnounce } from './receive-window.ts';
import { flowWords, portsWord } from './segment/flow-key.ts';
import {
  minHeaderLength,
  type SynOptions,
  tcpFlag,
  writeHeader,
  writeSynOptions,
  writeTimestamps,
} from './segment/segment.ts';
import { type Disguise, disguiseSegment, type ShapedPiece, shapedPieces, urgent } from './segment/segment-shape.ts';
import { distance } from './segment/sequence.ts';
import { signatureBytes, signSegment } from './segment/signature.ts';

const ectZero = 2;
const minProbeMs = 10;

/** Sets a use of the retransmission timer. */
export const setRetransmitTimer = (context: TcpContext, c: TcpConnection, use: number, ms: number): void => {
  c.retransmitUse = use;
  c.retransmitAt = context.nowMs + Math.max(ms, 1);
  context.wake(c, c.retransmitAt);
};

export const clearRetransmitTimer = (c: TcpConnection): void => {
  c.retransmitUse = retransmitTimer.none;
  c.retransmitAt = 0;
};

/** Starts the timer for data in flight: a tail-loss probe (RFC 8985, 7.2) where one is allowed, else the timeout. */
export const armRetransmit = (context: TcpContext, c: TcpConnection): void => {
  const rto = backedOffRto(c);
  if (c.usesSack && c.phase === recoveryPhase.open && !c.isProbing && c.srtt > 0 && c.backoff === 0) {
    const isSingle = distance(c.sndNxt, c.sndUna) <= c.mss;
    const probe = Math.max(Math.ceil((2 * c.srtt) / 1000) + (isSingle ? c.settings.minRtoMs : 2), minProbeMs);
    if (probe < rto) {
      setRetransmitTimer(context, c, retransmitTimer.lossProbe, probe);
      return;
    }
  }
  setRetransmitTimer(context, c, retransmitTimer.timeout, rto);
};

const maxSackBlocks = 4;
/** As many as fit beside a signature. */
const maxSignedBlocks = 2;

/** Writes SACK blocks with two NOPs before them and returns the bytes they take; the latest run comes first. */
const writeSacks = (c: TcpConnection, view: DataView, at: number): number => {
  const maxBlocks = c.signatureKey !== undefined ? maxSignedBlocks : maxSackBlocks - (c.usesTimestamps ? 1 : 0);
  let count = 0;
  const add = (start: number, end: number) => {
    view.setInt32(at + 4 + count * 8, start);
    view.setInt32(at + 8 + count * 8, end);
    count++;
  };
  if (c.duplicateStart !== c.duplicateEnd) add(c.duplicateStart, c.duplicateEnd);
  c.duplicateEnd = c.duplicateStart;
  // First pass: the run that grew last; second pass: the others from the lowest on.
  for (let pass = 0; pass < 2; pass++) {
    for (let piece = c.earlyHead; piece !== undefined && count < maxBlocks; ) {
      const start = piece.seq;
      let end = (piece.seq + piece.end - piece.start) | 0;
      for (piece = piece.next; piece !== undefined && piece.seq === end; piece = piece.next)
        end = (end + piece.end - piece.start) | 0;
      const isLatest = distance(c.earlyLatest, start) >= 0 && distance(c.earlyLatest, end) < 0;
      if (isLatest === (pass === 0)) add(start, end);
      if (isLatest && pass === 0) break;
    }
  }
  if (count === 0) return 0;
  view.setUint16(at, 0x0101);
  view.setUint8(at + 2, 5);
  view.setUint8(at + 3, 2 + count * 8);
  return 4 + count * 8;
};

const maxSackOptionLength = 40;

/** Beside a signature and timestamps SACK blocks find no room: signed connections do without timestamps, as Linux does. */
export const mayUseTimestamps = ({ settings, signatureKey }: TcpConnection): boolean =>
  settings.timestamps && signatureKey === undefined;

/** Options that every segment has. */
export const optionBytesOf = (c: TcpConnection): number =>
  (c.usesTimestamps ? 12 : 0) + (c.signatureKey === undefined ? 0 : signatureBytes);

/**
 * Writes and sends one segment of a synchronized connection with `length` bytes of the send queue from `seq` on.
 * Returns false if the sink has no room; the connection is then asked again later.
 */
export const emitSegment = (
  context: TcpContext,
  c: TcpConnection,
  flags: number,
  seq: number,
  length: number,
  disguise?: Disguise,
): boolean => {
  const { sink, flows } = context;
  const keys = flows.keys;
  const key = c.slot * flowWords;
  const hasSacks = length === 0 && c.usesSack && (c.earlyHead !== undefined || c.duplicateStart !== c.duplicateEnd);
  const room = minHeaderLength + optionBytesOf(c) + (hasSacks ? maxSackOptionLength : 0) + length;
  const at = sink.begin(keys, key, c.path, room, length > 0 ? c.shape?.fragmentBytes : 0);
  if (at < 0) {
    context.block(c);
    return false;
  }
  const { memory } = sink;
  const { view } = memory;
  let end = at + minHeaderLength + (c.signatureKey === undefined ? 0 : signatureBytes);
  if (c.usesTimestamps) {
    writeTimestamps(view, end, (context.nowMs + c.tsOffset) | 0, c.tsRecent);
    end += 12;
  }
  if (hasSacks) end += writeSacks(c, view, end);
  const allFlags = c.echoesCongestion && (flags & tcpFlag.rst) === 0 ? flags | tcpFlag.ece : flags;
  const ports = keys[key + portsWord] as number;
  writeHeader(view, at, ports, seq, c.rcvNxt, ((end - at) << 10) | allFlags, windowToAnnounce(c));
  const dataAt = end;
  let dataSum = 0;
  if (length > 0) {
    dataSum = copyQueued(c, seq, length, memory.bytes, end);
    end += length;
    if (disguise !== undefined) {
      disguiseSegment(memory, at, dataAt, length, disguise);
      dataSum = -1;
    }
  }
  if (c.signatureKey !== undefined) signSegment(memory, at, end, { keys, at: key, secret: c.signatureKey });
  const bytesSum = dataSum < 0 ? sumBytes(memory, at, end) : sumBytes(memory, at, dataAt) + dataSum;
  const sum = checksumOf(c.pseudoSum + (end - at) + bytesSum);
  view.setUint16(at + 16, disguise?.hasWrongChecksum ? sum ^ 0x5555 : sum);
  context.counters.segmentsSent++;
  c.mustAck = false;
  c.delayedAckAt = 0;
  c.unacknowledged = 0;
  sink.commit(at, end - at, length > 0 && c.usesEcn ? ectZero : 0, disguise?.ttl);
  return true;
};

/** A segment without data that acknowledges everything received in order. */
export const emitAck = (context: TcpContext, c: TcpConnection): boolean =>
  emitSegment(context, c, tcpFlag.ack, c.sndNxt, 0);

/** Elicits an acknowledgement: zero window and keep-alive probes lie one byte before the window, as Linux sends them. */
export const emitProbe = (context: TcpContext, c: TcpConnection): boolean =>
  emitSegment(context, c, tcpFlag.ack, (c.sndUna - 1) | 0, 0);

export const emitReset = (context: TcpContext, c: TcpConnection): void => {
  const isSynchronized = c.state !== tcpState.synSent;
  if (!isSynchronized) return;
  context.counters.resetsSent++;
  emitSegment(context, c, tcpFlag.rst | tcpFlag.ack, c.sndNxt, 0);
};

const synOptions: SynOptions = {
  mss: 0,
  windowShift: 0,
  isSackPermitted: false,
  hasTimestamps: false,
  tsValue: 0,
  tsEcho: 0,
};

/** Largest segment we announce. */
export const announcedMss = (mssSetting: number, mtu: number, isV6: boolean): number => {
  const limit = mtu - (isV6 ? 60 : 40);
  return mssSetting > 0 ? Math.min(mssSetting, limit) : limit;
};

/** Sends a SYN, or a SYN-ACK with the options both sides know. */
export const emitSyn = (context: TcpContext, c: TcpConnection): boolean => {
  const { sink, flows } = context;
  const { settings } = c;
  const isAnswer = c.state === tcpState.synReceived;
  synOptions.mss = announcedMss(settings.mss, sink.mtuOf(c.path), c.isV6);
  synOptions.windowShift = (isAnswer ? c.usesScale : settings.windowScale) ? c.rcvShift : -1;
  synOptions.isSackPermitted = isAnswer ? c.usesSack : settings.sack;
  synOptions.hasTimestamps = isAnswer ? c.usesTimestamps : mayUseTimestamps(c);
  synOptions.tsValue = (context.nowMs + c.tsOffset) | 0;
  synOptions.tsEcho = isAnswer ? c.tsRecent : 0;
  const key = c.slot * flowWords;
  const at = sink.begin(flows.keys, key, c.path, 60);
  c.mustAck = at < 0;
  if (at < 0) {
    context.block(c);
    return false;
  }
  const { memory } = sink;
  const { view } = memory;
  const secret = c.signatureKey;
  const optionsAt = at + minHeaderLength + (secret === undefined ? 0 : signatureBytes);
  const end = writeSynOptions(view, optionsAt, synOptions);
  let flags: number = tcpFlag.syn;
  if (isAnswer) flags |= c.usesEcn ? tcpFlag.ack | tcpFlag.ece : tcpFlag.ack;
  else if (settings.ecn && c.retries === 0) flags |= tcpFlag.ece | tcpFlag.cwr;
  const window = Math.min(settings.window, 0xffff);
  const ports = flows.keys[key + portsWord] as number;
  writeHeader(view, at, ports, c.iss, isAnswer ? c.rcvNxt : 0, ((end - at) << 10) | flags, window);
  if (secret !== undefined) signSegment(memory, at, end, { keys: flows.keys, at: key, secret });
  view.setUint16(at + 16, checksumOf(c.pseudoSum + (end - at) + sumBytes(memory, at, end)));
  context.counters.segmentsSent++;
  if (isAnswer) c.rcvAdvertised = (c.rcvNxt + window) | 0;
  sink.commit(at, end - at, 0);
  return true;
};

/** Sends a segment again, cut to the MSS in use. Returns false if the sink has no room. */
export const emitAgain = (context: TcpContext, c: TcpConnection, segment: SentSegment): boolean => {
  let hasFin = (segment.marks & sentMark.fin) !== 0;
  let length = distance(segment.end, segment.seq) - (hasFin ? 1 : 0);
  if (length > c.mss) {
    splitSent(c, context.sent, segment, c.mss);
    length = c.mss;
    hasFin = false;
  }
  const flags = tcpFlag.ack | (hasFin ? tcpFlag.fin : 0) | (segment.next === undefined && length > 0 ? tcpFlag.psh : 0);
  const disguise = (segment.marks & sentMark.urgent) === 0 ? undefined : urgent;
  if (!emitSegment(context, c, flags, segment.seq, length, disguise)) return false;
  segment.sentAt = context.nowUs;
  segment.marks |= sentMark.everRetransmitted;
  c.retransmits++;
  context.counters.retransmits++;
  return true;
};

/** Repeats segments marked as lost while the congestion window allows. */
const repeatLost = (context: TcpContext, c: TcpConnection): boolean => {
  for (let segment = c.sentHead; segment !== undefined && c.lostBytes > c.retransmittedBytes; segment = segment.next) {
    if ((segment.marks & (sentMark.lost | sentMark.sacked | sentMark.retransmitted)) !== sentMark.lost) continue;
    if (c.pipe > 0 && c.pipe + Math.min(c.mss, distance(segment.end, segment.seq)) > c.cwnd) return true;
    if (!emitAgain(context, c, segment)) return false;
    const bytes = distance(segment.end, segment.seq);
    segment.marks |= sentMark.retransmitted;
    c.retransmittedBytes += bytes;
    historyOf(c).prrOut += bytes;
    if (c.retransmitUse !== retransmitTimer.timeout) armRetransmit(context, c);
  }
  return true;
};

/** Bytes of new data to send in the next segment; 0: wait (Nagle, silly window avoidance, congestion, flow control). */
const nextLength = (c: TcpConnection, queued: number): number => {
  const usable = Math.min(distance((c.sndUna + c.sndWnd) | 0, c.sndNxt), c.cwnd - c.pipe);
  const full = Math.min(queued, c.mss);
  if (usable >= full) {
    if (full === c.mss || c.settings.noDelay || c.isFinQueued || c.sndNxt === c.sndUna) return full;
    return 0;
  }
  if (c.cwnd - c.pipe < full) c.limitedUntil = c.sndNxt;
  // A part of what is queued: only if the window of the peer is small for good.
  const isLarge = usable >= c.mss || (c.maxSndWnd > 0 && usable >= c.maxSndWnd >> 1);
  const isWindowLimited = usable === distance((c.sndUna + c.sndWnd) | 0, c.sndNxt);
  return usable > 0 && isLarge && isWindowLimited ? usable : 0;
};

const sendNew = (context: TcpContext, c: TcpConnection): void => {
  const before = c.sndNxt;
  if (c.shape !== undefined) sendShaped(context, c);
  while (!c.isFinSent && (c.shape === undefined || c.sndNxt === c.queueEnd) && sendMore(context, c)) {
    // Until the window is full or nothing is queued.
  }
  // The timer depends on how much is in flight, so it starts after the last segment.
  const isArmed = c.retransmitUse !== retransmitTimer.none && c.retransmitUse !== retransmitTimer.persist;
  if (!isArmed && c.sndNxt !== before) armRetransmit(context, c);
};

/** Sends a part of what is queued. Returns false if nothing can be sent now. */
const sendMore = (context: TcpContext, c: TcpConnection): boolean => {
  const sent = sendBurst(context, c);
  return sent === 0 ? sendNext(context, c) : sent > 0;
};

/** Segments of a flight in a shape of its own; the next ones follow when they are acknowledged. */
const maxShaped = 32;

/** Sends a flight of new data as the shape of the connection says. */
const sendShaped = (context: TcpContext, c: TcpConnection): void => {
  const shape = c.shape;
  const room = Math.min(distance((c.sndUna + c.sndWnd) | 0, c.sndNxt), c.cwnd - c.pipe);
  const bytes = Math.min(distance(c.queueEnd, c.sndNxt), room, maxShaped * (shape?.segmentBytes || c.mss));
  if (shape === undefined || bytes <= 0) return;
  const urgentAt = c.hasUrgentOut ? distance(c.urgentOut, c.sndNxt) : -1;
  const pieces = shapedPieces(shape, { bytes, maxSegment: c.mss, urgentAt });
  // What finds no room below counts as lost on the way.
  for (const { offset, length, disguise } of pieces)
    emitSegment(context, c, tcpFlag.ack | tcpFlag.psh, (c.sndNxt + offset) | 0, length, disguise);
  for (const piece of pieces.filter(({ counts }) => counts >= 0).toSorted((a, b) => a.counts - b.counts))
    noteShaped(context, c, piece);
};

const noteShaped = (context: TcpContext, c: TcpConnection, { offset, length, counts, disguise }: ShapedPiece): void => {
  const bytes = offset + length - counts;
  const end = (c.sndNxt + bytes) | 0;
  const segment = context.sent.take(c.sndNxt, end, context.nowUs);
  if (disguise?.isUrgent) segment.marks = sentMark.urgent;
  appendSent(c, segment);
  c.sndNxt = end;
  if (c.phase >= recoveryPhase.recovery) historyOf(c).prrOut += bytes;
};

/** Sends one segment of new data, or a FIN. Returns false if none can be sent now. */
const sendNext = (context: TcpContext, c: TcpConnection): boolean => {
  const queued = distance(c.queueEnd, c.sndNxt);
  const length = queued > 0 ? nextLength(c, queued) : 0;
  const isLast = length === queued;
  if (length === 0 && !(queued === 0 && c.isFinQueued)) return false;
  const hasFin = isLast && c.isFinQueued;
  let flags = tcpFlag.ack | (hasFin ? tcpFlag.fin : 0) | (isLast && length > 0 ? tcpFlag.psh : 0);
  if (c.mustSendCwr && length > 0) flags |= tcpFlag.cwr;
  if (!emitSegment(context, c, flags, c.sndNxt, length)) return false;
  if (length > 0) c.mustSendCwr = false;
  const end = (c.sndNxt + length + (hasFin ? 1 : 0)) | 0;
  const segment = context.sent.take(c.sndNxt, end, context.nowUs);
  if (hasFin) {
    segment.marks = sentMark.fin;
    c.isFinSent = true;
  }
  appendSent(c, segment);
  c.sndNxt = end;
  if (c.phase >= recoveryPhase.recovery) historyOf(c).prrOut += length;
  return true;
};

/** Sends what the state of the connection allows: lost data again, new data, or an acknowledgement that is due. */
export const output = (context: TcpContext, c: TcpConnection): void => {
  const { state } = c;
  if (state < tcpState.established) {
    // A SYN that the sink refused before.
    if (state !== tcpState.closed && c.mustAck) emitSyn(context, c);
    return;
  }
  if (c.lostBytes > c.retransmittedBytes && !repeatLost(context, c)) return;
  if (c.sndNxt !== c.queueEnd || c.isFinQueued) {
    sendNew(context, c);
    // Data waits for the window alone: ask the peer from time to time.
    if (c.retransmitUse === retransmitTimer.none && c.sndNxt !== c.queueEnd && c.sndUna === c.sndNxt && !c.isFinSent)
      setRetransmitTimer(context, c, retransmitTimer.persist, backedOffRto(c));
  }
  if (c.mustAck) emitAck(context, c);
};
