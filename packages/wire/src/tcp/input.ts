import { type TcpConnection, tcpState } from './connection.ts';
import type { TcpContext } from './context.ts';
import { endConnection, enterTimeWait } from './end.ts';
import { acceptConnection, applySynOptions, establish } from './handshake.ts';
import { processAck } from './loss/ack.ts';
import { emitAck, emitSyn } from './output.ts';
import { receiveData } from './receive-data.ts';
import { emitResetFor } from './reply.ts';
import { type Segment, tcpFlag } from './segment/segment.ts';
import { distance, isAfter, isBefore } from './segment/sequence.ts';

const pawsIdleMs = 24 * 86_400_000;

/** Acknowledges a suspicious segment; limited, so that a flood is not answered by a flood (RFC 5961, 7). */
export const challenge = (context: TcpContext, c: TcpConnection): void => {
  const second = Math.floor(context.nowMs / 1000);
  if (second !== context.challengeSecond) {
    context.challengeSecond = second;
    context.challengeCount = 0;
  }
  if (context.challengeCount++ >= context.limits.challengeAcksPerSecond) return;
  context.counters.challengeAcks++;
  emitAck(context, c);
};

const receiveInSynSent = (context: TcpContext, c: TcpConnection, segment: Segment): void => {
  const { flags, ack } = segment;
  const hasAck = (flags & tcpFlag.ack) !== 0;
  if (hasAck && (!isAfter(ack, c.iss) || isAfter(ack, c.sndNxt))) {
    emitResetFor(context, c);
    return;
  }
  if ((flags & tcpFlag.rst) !== 0) {
    if (!hasAck) return;
    context.counters.resetsReceived++;
    endConnection(context, c, 'ECONNREFUSED');
    return;
  }
  if ((flags & tcpFlag.syn) === 0) return;
  applySynOptions(context, c, segment);
  const ecnFlags = flags & (tcpFlag.ece | tcpFlag.cwr);
  if (!hasAck) {
    // Both sides open at the same time (RFC 9293, figure 7).
    c.usesEcn = c.settings.ecn && ecnFlags === (tcpFlag.ece | tcpFlag.cwr);
    c.state = tcpState.synReceived;
    c.retries = 0;
    emitSyn(context, c);
    return;
  }
  c.usesEcn = c.settings.ecn && ecnFlags === tcpFlag.ece;
  c.sndUna = ack;
  const isFirst = c.retries === 0;
  establish(context, c);
  if (isFirst) takeHandshakeRtt(context, c, segment);
  c.mustAck = true;
  context.touch(c);
  context.counters.opened++;
  c.events.onOpen(c);
};

/** The SYN is not in the scoreboard: its round-trip time comes from the echoed timestamp. */
const takeHandshakeRtt = (context: TcpContext, c: TcpConnection, segment: Segment): void => {
  if (c.usesTimestamps && segment.tsEcho !== 0) {
    const ms = (context.nowMs + c.tsOffset - segment.tsEcho) | 0;
    if (ms > 0 && ms < 60_000) c.rtoMs = Math.min(Math.max(ms * 3, c.settings.minRtoMs), c.settings.maxRtoMs);
  }
};

/** PAWS (RFC 7323, 5). Returns false if the segment is a stale duplicate. */
const checkTimestamps = (context: TcpContext, c: TcpConnection, segment: Segment): boolean => {
  if (!c.usesTimestamps || !segment.hasTimestamps) return true;
  if (((segment.tsValue - c.tsRecent) | 0) < 0) {
    if ((segment.flags & tcpFlag.rst) !== 0 || context.nowMs - c.tsRecentAt > pawsIdleMs) return true;
    context.counters.droppedByPaws++;
    return false;
  }
  if (!isAfter(segment.seq, c.rcvNxt)) {
    c.tsRecent = segment.tsValue;
    c.tsRecentAt = context.nowMs;
  }
  return true;
};

/** True if any of the segment lies in the window (RFC 9293, 3.10.7.4). */
const isInWindow = (c: TcpConnection, seq: number, length: number): boolean => {
  const window = Math.max(distance(c.rcvAdvertised, c.rcvNxt), 0);
  const offset = distance(seq, c.rcvNxt);
  if (length === 0) return window === 0 ? offset === 0 : offset >= 0 && offset < window;
  if (window === 0) return false;
  return offset < window && offset + length > 0;
};

const receiveUnacceptable = (context: TcpContext, c: TcpConnection, segment: Segment): void => {
  if ((segment.flags & tcpFlag.rst) !== 0) return;
  if (c.state === tcpState.synReceived && (segment.flags & tcpFlag.syn) !== 0 && segment.seq === c.irs) {
    emitSyn(context, c);
    return;
  }
  const end = (segment.seq + segment.dataEnd - segment.dataStart) | 0;
  if (segment.dataEnd > segment.dataStart && !isAfter(end, c.rcvNxt)) {
    c.duplicateStart = segment.seq;
    c.duplicateEnd = end;
  }
  // An acknowledgement in it is still true: a peer whose window is closed has nothing else to send.
  const hasAck = (segment.flags & (tcpFlag.ack | tcpFlag.syn)) === tcpFlag.ack;
  if (hasAck && c.state >= tcpState.established && isAckValid(c, segment.ack)) {
    processAck(context, c, segment);
    context.touch(c);
    if (advanceClose(context, c)) return;
  }
  emitAck(context, c);
};

const isAckValid = (c: TcpConnection, ack: number): boolean =>
  !isAfter(ack, c.sndNxt) && !isBefore(ack, (c.sndUna - Math.max(c.maxSndWnd, 0xffff)) | 0);

/** Moves on once our FIN is acknowledged. Returns true if the connection is over. */
const advanceClose = (context: TcpContext, c: TcpConnection): boolean => {
  if (!c.isFinSent || c.sndUna !== c.sndNxt) return false;
  if (c.state === tcpState.finWait1) {
    c.state = tcpState.finWait2;
    c.keepAliveAt = context.nowMs + c.settings.finWait2Ms;
    context.wake(c, c.keepAliveAt);
    return false;
  }
  if (c.state === tcpState.closing) {
    enterTimeWait(context, c);
    return true;
  }
  if (c.state !== tcpState.lastAck) return false;
  endConnection(context, c, undefined);
  return true;
};

const completeHandshake = (context: TcpContext, c: TcpConnection, segment: Segment): boolean => {
  if (!isAfter(segment.ack, c.sndUna) || isAfter(segment.ack, c.sndNxt)) {
    emitResetFor(context, c);
    return false;
  }
  c.sndUna = segment.ack;
  c.sndWnd = segment.window << c.sndShift;
  c.maxSndWnd = c.sndWnd;
  c.sndWl1 = segment.seq;
  c.sndWl2 = segment.ack;
  if (c.listener >= 0) acceptConnection(context, c, context.listenersByIndex[c.listener]);
  else {
    establish(context, c);
    context.counters.opened++;
    c.events.onOpen(c);
  }
  return c.state !== tcpState.closed;
};

const receiveReset = (context: TcpContext, c: TcpConnection, segment: Segment): void => {
  if (segment.seq !== c.rcvNxt) {
    challenge(context, c);
    return;
  }
  context.counters.resetsReceived++;
  const isRefused = c.state === tcpState.synReceived && c.listener < 0;
  endConnection(context, c, isRefused ? 'ECONNREFUSED' : 'ECONNRESET');
};

/** Handles a segment of an existing connection. `isMarked`: its IP header says congestion experienced. */
export const receiveSegment = (context: TcpContext, c: TcpConnection, bytes: Uint8Array, isMarked: boolean): void => {
  const { segment } = context;
  const { flags } = segment;
  c.lastReceivedAt = context.nowMs;
  if (c.state === tcpState.synSent) {
    receiveInSynSent(context, c, segment);
    return;
  }
  if (!checkTimestamps(context, c, segment) || !isInWindow(c, segment.seq, segment.length)) {
    receiveUnacceptable(context, c, segment);
    return;
  }
  if ((flags & tcpFlag.rst) !== 0) {
    receiveReset(context, c, segment);
    return;
  }
  if ((flags & tcpFlag.syn) !== 0) {
    receiveSecondSyn(context, c);
    return;
  }
  if ((flags & tcpFlag.ack) === 0) return;
  if (c.state === tcpState.synReceived && !completeHandshake(context, c, segment)) return;
  if (!isAckValid(c, segment.ack)) {
    challenge(context, c);
    return;
  }
  if (c.usesEcn) noteCongestion(c, flags, isMarked);
  processAck(context, c, segment);
  if (advanceClose(context, c)) return;
  const hasText = segment.dataEnd > segment.dataStart || (flags & tcpFlag.fin) !== 0;
  if (hasText) receiveText(context, c, segment, bytes);
  if ((c.state as number) === tcpState.closed) return;
  askForMore(c);
  if ((c.state as number) !== tcpState.closed) context.touch(c);
};

/** A SYN in the window of a connection proves nothing (RFC 5961, 4); a simultaneous open repeats its answer. */
const receiveSecondSyn = (context: TcpContext, c: TcpConnection): void => {
  if (c.state === tcpState.synReceived && c.listener < 0) emitSyn(context, c);
  else challenge(context, c);
};

const receiveText = (context: TcpContext, c: TcpConnection, segment: Segment, bytes: Uint8Array): void => {
  const { state } = c;
  if (state === tcpState.established || state === tcpState.finWait1 || state === tcpState.finWait2)
    receiveData(context, c, segment, bytes);
  else c.mustAck = true;
};

const noteCongestion = (c: TcpConnection, flags: number, isMarked: boolean): void => {
  if ((flags & tcpFlag.cwr) !== 0) c.echoesCongestion = false;
  if (isMarked) c.echoesCongestion = true;
};

/** Tells the application that there is room for more once. */
export const askForMore = (c: TcpConnection): void => {
  if (!c.wantsSent || c.queuedBytes >= c.settings.sendBuffer) return;
  c.wantsSent = false;
  c.events.onSent(c);
};
