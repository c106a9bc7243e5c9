import { recoveryPhase, retransmitTimer, type TcpConnection, tcpState } from './connection.ts';
import type { TcpContext } from './context.ts';
import { abortConnection, endConnection } from './end.ts';
import { enterLoss } from './loss/enter-loss.ts';
import { onReorderingTimer } from './loss/recovery.ts';
import { backedOffRto } from './loss/rtt.ts';
import { sentMark } from './loss/sent-segment.ts';
import {
  armRetransmit,
  clearRetransmitTimer,
  emitAck,
  emitAgain,
  emitProbe,
  emitSyn,
  output,
  setRetransmitTimer,
} from './output.ts';
import { distance } from './segment/sequence.ts';

const onSynTimeout = (context: TcpContext, c: TcpConnection): void => {
  if (c.retries >= c.settings.synRetries) {
    endConnection(context, c, 'ETIMEDOUT');
    return;
  }
  c.retries++;
  c.backoff++;
  c.retransmits++;
  context.counters.retransmits++;
  emitSyn(context, c);
  setRetransmitTimer(context, c, retransmitTimer.timeout, backedOffRto(c));
};

const onTimeout = (context: TcpContext, c: TcpConnection): void => {
  if (c.state < tcpState.established) {
    onSynTimeout(context, c);
    return;
  }
  // A closed window is no failure of a peer that goes on to answer.
  const isWindowClosed = c.sndWnd === 0 && context.nowMs - c.lastReceivedAt < c.settings.maxRtoMs;
  if (!isWindowClosed && c.retries >= c.settings.dataRetries) {
    endConnection(context, c, 'ETIMEDOUT');
    return;
  }
  c.retries++;
  enterLoss(context, c);
  c.backoff++;
  setRetransmitTimer(context, c, retransmitTimer.timeout, backedOffRto(c));
  output(context, c);
};

/** Tail-loss probe: new data if there is any, else the last segment again (RFC 8985, 7.3). */
const onLossProbe = (context: TcpContext, c: TcpConnection): void => {
  context.counters.lossProbes++;
  c.isProbing = true;
  const end = c.sndNxt;
  // One segment more than the congestion window allows.
  const { cwnd } = c;
  c.cwnd = Math.max(c.pipe + c.mss, cwnd);
  output(context, c);
  c.cwnd = cwnd;
  c.isProbeRepeat = c.sndNxt === end;
  const tail = c.sentTail;
  if (c.isProbeRepeat && tail !== undefined && (tail.marks & sentMark.sacked) === 0) emitAgain(context, c, tail);
  c.probeEnd = c.sndNxt;
  armRetransmit(context, c);
};

const onPersist = (context: TcpContext, c: TcpConnection): void => {
  if (c.retries >= c.settings.dataRetries) {
    endConnection(context, c, 'ETIMEDOUT');
    return;
  }
  output(context, c);
  if (distance(c.sndNxt, c.sndUna) > 0 || c.sndNxt === c.queueEnd) return;
  c.retries++;
  c.backoff++;
  context.counters.zeroWindowProbes++;
  emitProbe(context, c);
  setRetransmitTimer(context, c, retransmitTimer.persist, backedOffRto(c));
};

const onRetransmitTimer = (context: TcpContext, c: TcpConnection): void => {
  const use = c.retransmitUse;
  clearRetransmitTimer(c);
  if (use === retransmitTimer.timeout) onTimeout(context, c);
  else if (use === retransmitTimer.persist) onPersist(context, c);
  else if (use === retransmitTimer.lossProbe) {
    if (c.phase === recoveryPhase.open && c.sentHead !== undefined) onLossProbe(context, c);
    else armRetransmit(context, c);
  } else if (use === retransmitTimer.reordering) {
    onReorderingTimer(context, c);
    armRetransmit(context, c);
    output(context, c);
  }
};

/** The wait for the FIN of a peer ends when it has been silent for too long. */
const onFinWait2 = (context: TcpContext, c: TcpConnection): void => {
  const silent = context.nowMs - c.lastReceivedAt;
  const { finWait2Ms } = c.settings;
  if (silent < finWait2Ms) c.keepAliveAt = context.nowMs + finWait2Ms - silent;
  else endConnection(context, c, 'ETIMEDOUT');
};

const onKeepAlive = (context: TcpContext, c: TcpConnection): void => {
  const { keepAliveMs, keepAliveProbes } = c.settings;
  const idle = context.nowMs - c.lastReceivedAt;
  if (c.sndUna !== c.sndNxt) {
    // The retransmission timer watches over data in flight.
    c.keepAliveAt = context.nowMs + keepAliveMs;
    return;
  }
  if (idle < keepAliveMs) {
    c.keepAliveAt = context.nowMs + keepAliveMs - idle;
    return;
  }
  if (c.retries >= keepAliveProbes) {
    abortConnection(context, c, 'ETIMEDOUT');
    return;
  }
  c.retries++;
  context.counters.keepAliveProbes++;
  emitProbe(context, c);
  c.keepAliveAt = context.nowMs + keepAliveMs;
};

const earlier = (a: number, b: number): number => (a === 0 || (b !== 0 && b < a) ? b : a);

/** Runs every timer of a connection that is due and wakes it again for the next one. */
export const fireTimers = (context: TcpContext, c: TcpConnection): void => {
  const now = context.nowMs;
  if (c.delayedAckAt !== 0 && c.delayedAckAt <= now) {
    c.delayedAckAt = 0;
    emitAck(context, c);
  }
  if (c.retransmitAt !== 0 && c.retransmitAt <= now) onRetransmitTimer(context, c);
  if (c.state === tcpState.closed) return;
  if (c.keepAliveAt !== 0 && c.keepAliveAt <= now) {
    if (c.state === tcpState.finWait2) onFinWait2(context, c);
    else onKeepAlive(context, c);
  }
  if (c.state === tcpState.closed) return;
  const next = earlier(earlier(c.retransmitAt, c.delayedAckAt), c.keepAliveAt);
  if (next !== 0) context.wake(c, next);
};
