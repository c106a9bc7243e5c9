import { recoveryPhase, retransmitTimer, type TcpConnection } from '../connection.ts';
import type { TcpContext } from '../context.ts';
import { setRetransmitTimer } from '../output.ts';
import { distance, isAfter, isBefore } from '../segment/sequence.ts';
import { growWindow, historyOf, reduceThreshold } from './congestion.ts';
import { type Delivery, markLost } from './scoreboard.ts';
import { type SentSegment, sentMark } from './sent-segment.ts';

const duplicateThreshold = 3;
const maxReorderMultiple = 16;

/** Reordering window of RACK in microseconds (RFC 8985, 6.2 step 4). */
const reorderWindowOf = (c: TcpConnection): number => {
  if (!c.hasReordering) {
    if (c.phase >= recoveryPhase.recovery) return 0;
    if (c.sackedBytes >= duplicateThreshold * c.mss) return 0;
  }
  return Math.min((c.rackReorderWindow * c.minRtt) >> 2, c.srtt);
};

/**
 * RACK: marks as lost what was sent well before something that was delivered. Returns the microseconds after which
 * more segments will count as lost; 0: none.
 */
export const detectLoss = (c: TcpConnection, nowUs: number): number => {
  const dueUs = (nowUs - c.rackRtt - reorderWindowOf(c)) | 0;
  let wait = 0;
  // What was repeated may be lost again.
  let left = c.retransmittedBytes;
  for (let segment = c.sentHead; segment !== undefined && left > 0; segment = segment.next) {
    if ((segment.marks & sentMark.retransmitted) === 0) continue;
    left -= distance(segment.end, segment.seq);
    if (wasOvertaken(c, segment)) wait = Math.max(wait, loseOrWait(c, segment, dueUs));
  }
  for (let segment = historyOf(c).sacks.undecided(c.sentHead); segment !== undefined; segment = segment.next) {
    if ((segment.marks & (sentMark.sacked | sentMark.lost)) !== 0) continue;
    if (wasOvertaken(c, segment)) wait = Math.max(wait, loseOrWait(c, segment, dueUs));
    // First transmissions are in order: everything behind this one was sent later still.
    else if ((segment.marks & sentMark.everRetransmitted) === 0) break;
  }
  return wait;
};

/** True if something sent after the segment was delivered. */
const wasOvertaken = (c: TcpConnection, segment: SentSegment): boolean => {
  const earlier = (c.rackSentAt - segment.sentAt) | 0;
  return earlier > 0 || (earlier === 0 && isBefore(segment.end, c.rackEnd));
};

/** Marks what was sent up to `dueUs` as lost; else returns the microseconds until then. */
const loseOrWait = (c: TcpConnection, segment: SentSegment, dueUs: number): number => {
  const remaining = (segment.sentAt - dueUs) | 0;
  if (remaining <= 0) markLost(c, segment);
  return Math.max(remaining, 0);
};

const enterRecovery = (context: TcpContext, c: TcpConnection): void => {
  // A reduction for an ECN mark in the same window counts for the loss too.
  if (c.phase !== recoveryPhase.windowReduced) reduceThreshold(c);
  c.phase = recoveryPhase.recovery;
  c.recoveryPoint = c.sndNxt;
  const history = historyOf(c);
  history.recoveryFlight = Math.max(distance(c.sndNxt, c.sndUna), 1);
  history.prrDelivered = 0;
  history.prrOut = 0;
  c.isProbing = false;
  context.counters.fastRecoveries++;
};

/** Proportional rate reduction (RFC 6937) with the slow start reduction bound. */
const reduceProportionally = (c: TcpConnection, delivered: number, isFirst: boolean): void => {
  const history = historyOf(c);
  history.prrDelivered += delivered;
  const { pipe, ssthresh } = c;
  let send: number;
  if (pipe > ssthresh) send = Math.ceil((history.prrDelivered * ssthresh) / history.recoveryFlight) - history.prrOut;
  else send = Math.min(ssthresh - pipe, Math.max(history.prrDelivered - history.prrOut, delivered) + c.mss);
  c.cwnd = pipe + Math.max(send, isFirst ? c.mss : 0);
};

/** Without SACK every duplicate acknowledgement stands for one segment that arrived (RFC 6675 without a scoreboard). */
const countDuplicate = (c: TcpConnection, delivery: Delivery): void => {
  c.dupAcks++;
  if (c.usesSack) return;
  const limit = distance(c.sndNxt, c.sndUna) - c.mss - c.lostBytes;
  const bytes = Math.min(c.mss, Math.max(limit - c.sackedBytes, 0));
  c.sackedBytes += bytes;
  delivery.bytes += bytes;
};

/** Finds lost segments from what an acknowledgement says. */
const findLost = (context: TcpContext, c: TcpConnection, isAdvanced: boolean): void => {
  if (c.usesSack) {
    if (c.sackedBytes === 0 && c.phase < recoveryPhase.recovery) return;
    const wait = detectLoss(c, context.nowUs);
    if (wait > 0 && c.lostBytes === 0)
      setRetransmitTimer(context, c, retransmitTimer.reordering, Math.ceil(wait / 1000) + 1);
    return;
  }
  const head = c.sentHead;
  if (head === undefined) return;
  const isPartial = c.phase >= recoveryPhase.recovery && isAdvanced;
  if (isPartial || (c.phase < recoveryPhase.recovery && c.dupAcks >= duplicateThreshold)) markLost(c, head);
};

/** ECN (RFC 3168, 6.1.2): one reduction for each window of data. */
export const onCongestionMark = (c: TcpConnection): void => {
  if (c.phase >= recoveryPhase.windowReduced) return;
  reduceThreshold(c);
  c.cwnd = c.ssthresh;
  c.phase = recoveryPhase.windowReduced;
  c.recoveryPoint = c.sndNxt;
  c.mustSendCwr = true;
};

const leaveRecovery = (c: TcpConnection): void => {
  if (c.phase === recoveryPhase.recovery) c.cwnd = Math.max(Math.min(c.cwnd, c.ssthresh), c.mss);
  if (c.phase === recoveryPhase.recovery && c.cwnd < c.ssthresh) c.cwnd = c.ssthresh;
  c.phase = recoveryPhase.open;
  c.dupAcks = 0;
  if (!c.usesSack) c.sackedBytes = 0;
};

/** A tail-loss probe is answered: if it repaired a loss, the window shrinks (RFC 8985, 7.4.2). */
const endProbe = (c: TcpConnection, ack: number, hasDuplicate: boolean): void => {
  if (!c.isProbing || isBefore(ack, c.probeEnd)) return;
  c.isProbing = false;
  if (!c.isProbeRepeat || hasDuplicate || c.phase !== recoveryPhase.open) return;
  reduceThreshold(c);
  c.cwnd = Math.max(c.ssthresh, c.mss);
};

export interface AckFacts {
  /** Bytes newly acknowledged in order. */
  acked: number;
  isDuplicate: boolean;
  hasDuplicateSack: boolean;
  /** Bytes in flight before the acknowledgement. */
  flightBefore: number;
}

/** Drives loss recovery and the congestion window by an acknowledgement. */
export const onAckReceived = (context: TcpContext, c: TcpConnection, facts: AckFacts): void => {
  const { delivery } = context;
  const isAdvanced = facts.acked > 0;
  if (isAdvanced && !c.usesSack) c.sackedBytes = Math.max(0, c.sackedBytes - Math.max(facts.acked - c.mss, 0));
  if (isAdvanced && c.phase < recoveryPhase.recovery) c.dupAcks = 0;
  if (facts.isDuplicate) countDuplicate(c, delivery);
  if (delivery.hasReordered) c.hasReordering = true;
  if (facts.hasDuplicateSack && c.rackReorderWindow < maxReorderMultiple) c.rackReorderWindow++;
  endProbe(c, c.sndUna, facts.hasDuplicateSack);
  const isOver = c.phase >= recoveryPhase.windowReduced && !isBefore(c.sndUna, c.recoveryPoint);
  if (isOver) leaveRecovery(c);
  if (c.sackedBytes > 0 || c.dupAcks > 0 || c.phase >= recoveryPhase.recovery) findLost(context, c, isAdvanced);
  if (c.phase < recoveryPhase.recovery) {
    if (c.lostBytes > 0) {
      enterRecovery(context, c);
      reduceProportionally(c, delivery.bytes, true);
      return;
    }
    if (c.phase !== recoveryPhase.windowReduced)
      c.phase = c.sackedBytes > 0 || c.dupAcks > 0 ? recoveryPhase.disorder : recoveryPhase.open;
  }
  if (c.phase === recoveryPhase.recovery) reduceProportionally(c, delivery.bytes, false);
  else if (c.phase === recoveryPhase.loss || isCwndLimited(c, facts.flightBefore)) {
    if (isAdvanced && c.phase !== recoveryPhase.windowReduced) growWindow(c, facts.acked, context.nowMs);
  }
};

/**
 * A window that is not used says nothing about the network (RFC 7661): it does not grow. Acknowledgements that are
 * handled together find less and less in flight, so what counts is whether the window was full when the data was sent.
 */
const isCwndLimited = (c: TcpConnection, flightBefore: number): boolean => {
  if (!isAfter(c.sndUna, c.limitedUntil)) return true;
  // Stays near, because sequence numbers come again.
  c.limitedUntil = (c.sndUna - 1) | 0;
  return c.cwnd < c.ssthresh ? flightBefore * 2 >= c.cwnd : flightBefore + c.mss >= c.cwnd;
};

/** The reordering timer fired: what did not arrive meanwhile is lost. */
export const onReorderingTimer = (context: TcpContext, c: TcpConnection): void => {
  detectLoss(c, context.nowUs);
  if (c.lostBytes === 0 || c.phase >= recoveryPhase.recovery) return;
  enterRecovery(context, c);
  reduceProportionally(c, 0, true);
};

/** The path carries only smaller packets now: what is too large for it counts as lost and is sent in smaller parts. */
export const repeatTooLarge = (c: TcpConnection): void => {
  for (let segment = c.sentHead; segment !== undefined; segment = segment.next) {
    if ((segment.marks & sentMark.sacked) === 0 && distance(segment.end, segment.seq) > c.mss) markLost(c, segment);
  }
  if (isAfter(c.recoveryPoint, c.sndNxt)) c.recoveryPoint = c.sndNxt;
};
