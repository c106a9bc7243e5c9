import { recoveryPhase, type TcpConnection } from '../connection.ts';
import type { TcpContext } from '../context.ts';
import { isBefore } from '../segment/sequence.ts';
import { historyOf, reduceThreshold } from './congestion.ts';
import { markAllLost } from './scoreboard.ts';

/** The retransmission timeout: everything outstanding is lost, start again with one segment (RFC 5681, 3.1). */
export const enterLoss = (context: TcpContext, c: TcpConnection): void => {
  const isFirst = c.phase !== recoveryPhase.loss || !isBefore(c.sndUna, c.recoveryPoint);
  if (isFirst && c.backoff === 0) reduceThreshold(c);
  c.phase = recoveryPhase.loss;
  c.recoveryPoint = c.sndNxt;
  if (!c.usesSack) c.sackedBytes = 0;
  // A peer may discard what it acknowledged selectively: after a second timeout nothing counts as received.
  markAllLost(c, c.usesSack && c.backoff > 0);
  c.cwnd = c.mss;
  historyOf(c).credit = 0;
  c.dupAcks = 0;
  c.isProbing = false;
  context.counters.timeouts++;
};
