import { recoveryPhase, retransmitTimer, type TcpConnection } from '../connection.ts';
import type { TcpContext } from '../context.ts';
import { armRetransmit, clearRetransmitTimer } from '../output.ts';
import { type Segment, tcpFlag } from '../segment/segment.ts';
import { distance, isAfter, isBefore } from '../segment/sequence.ts';
import { historyOf } from './congestion.ts';
import { type AckFacts, onAckReceived, onCongestionMark } from './recovery.ts';
import { sampleRtt } from './rtt.ts';
import { acknowledgeSent, markSacked } from './scoreboard.ts';
import { releaseQueued } from './send-queue.ts';

const block = { start: 0, end: 0, isLatest: false };

/** Reads SACK blocks into the scoreboard. Returns true if the first one reports data received twice (RFC 2883). */
const readSacks = (context: TcpContext, c: TcpConnection, segment: Segment): boolean => {
  const { sacks, sackCount, ack } = segment;
  const firstStart = sacks[0] as number;
  const firstEnd = sacks[1] as number;
  const isInsideSecond =
    sackCount > 1 && !isBefore(firstStart, sacks[2] as number) && !isAfter(firstEnd, sacks[3] as number);
  const hasDuplicate = isBefore(firstStart, ack) || isInsideSecond;
  const known = historyOf(c).sacks;
  const first = hasDuplicate ? 1 : 0;
  for (let i = first; i < sackCount; i++) {
    const start = sacks[i * 2] as number;
    const end = sacks[i * 2 + 1] as number;
    if (!isBefore(start, end) || isBefore(start, c.sndUna) || isAfter(end, c.sndNxt)) continue;
    if (known.has(start, end)) continue;
    block.start = start;
    block.end = end;
    block.isLatest = i === first;
    markSacked(c, block, context.nowUs, context.delivery);
  }
  known.keep(sacks, sackCount);
  return hasDuplicate;
};

const updateWindow = (c: TcpConnection, segment: Segment): boolean => {
  const { seq, ack } = segment;
  const window = segment.window << c.sndShift;
  const isNewer = isAfter(seq, c.sndWl1) || (seq === c.sndWl1 && !isBefore(ack, c.sndWl2));
  if (!isNewer) return false;
  c.sndWl1 = seq;
  c.sndWl2 = ack;
  const isChanged = window !== c.sndWnd;
  c.sndWnd = window;
  if (window > c.maxSndWnd) c.maxSndWnd = window;
  return isChanged;
};

const takeRtt = (context: TcpContext, c: TcpConnection, segment: Segment, acked: number): void => {
  const { delivery } = context;
  if (delivery.rtt >= 0) {
    sampleRtt(c, delivery.rtt);
    return;
  }
  // Only repeated data was acknowledged: the echoed timestamp tells which transmission it was.
  if (acked === 0 || !c.usesTimestamps || !segment.hasTimestamps || segment.tsEcho === 0) return;
  const ms = (context.nowMs + c.tsOffset - segment.tsEcho) | 0;
  if (ms >= 0 && ms < 1_000_000) sampleRtt(c, Math.max(ms * 1000, 1));
};

const facts: AckFacts = { acked: 0, isDuplicate: false, hasDuplicateSack: false, flightBefore: 0 };

/** Handles the acknowledgement of a segment whose ack lies in [una - window, nxt]. */
export const processAck = (context: TcpContext, c: TcpConnection, segment: Segment): void => {
  const { delivery } = context;
  const { ack } = segment;
  delivery.reset();
  const flight = distance(c.sndNxt, c.sndUna);
  const acked = Math.max(distance(ack, c.sndUna), 0);
  if (acked > 0) {
    acknowledgeSent(c, context.sent, ack, context.nowUs, delivery);
    releaseQueued(c, context.pieces, ack);
    c.sndUna = ack;
    c.backoff = 0;
  }
  if (acked > 0 || flight === 0) c.retries = 0;
  const hasDuplicateSack = segment.sackCount > 0 && c.usesSack && readSacks(context, c, segment);
  const isWindowChanged = updateWindow(c, segment);
  if (flight === 0) {
    onIdleAck(c);
    return;
  }
  takeRtt(context, c, segment, acked);
  if (c.usesEcn && (segment.flags & tcpFlag.ece) !== 0) onCongestionMark(c);
  facts.acked = acked;
  facts.flightBefore = flight;
  facts.hasDuplicateSack = hasDuplicateSack;
  const isPure = segment.dataEnd === segment.dataStart && (segment.flags & (tcpFlag.fin | tcpFlag.syn)) === 0;
  facts.isDuplicate =
    acked === 0 && ack === c.sndUna && isPure && !isWindowChanged && (!c.usesSack || segment.sackCount > 0);
  const useBefore = c.retransmitUse;
  onAckReceived(context, c, facts);
  if (c.sndUna === c.sndNxt) clearRetransmitTimer(c);
  else if (acked > 0 || (delivery.newlySacked > 0 && c.phase === recoveryPhase.open)) {
    const isReordering = c.retransmitUse === retransmitTimer.reordering && useBefore !== retransmitTimer.reordering;
    if (!isReordering) armRetransmit(context, c);
  }
};

/** Nothing was in flight: the segment can only open the window, or answer a probe. */
const onIdleAck = (c: TcpConnection): void => {
  if (c.retransmitUse !== retransmitTimer.persist) return;
  if (c.sndWnd === 0) return;
  clearRetransmitTimer(c);
  c.backoff = 0;
};
