import type { Piece, PiecePool } from '../bytes/piece-pool.ts';
import { type CloseCause, type TcpConnection, tcpState } from './connection.ts';
import type { TcpContext } from './context.ts';
import { releaseSent } from './loss/scoreboard.ts';
import { releaseAllQueued } from './loss/send-queue.ts';
import { emitAck, emitReset } from './output.ts';
import { flowWords } from './segment/flow-key.ts';
import { createTimeWaitRecord } from './time-wait.ts';

const releaseList = (pool: PiecePool, head: Piece | undefined): void => {
  for (let piece = head; piece !== undefined; ) {
    const { next } = piece;
    pool.release(piece);
    piece = next;
  }
};

/** A half-open connection no longer counts against its listener. */
export const leaveBacklog = (context: TcpContext, c: TcpConnection): void => {
  const listener = context.listenersByIndex[c.listener];
  if (listener !== undefined) listener.halfOpen--;
  c.listener = -1;
};

/** Ends a connection: everything it holds is released, the application is informed. */
export const endConnection = (context: TcpContext, c: TcpConnection, cause: CloseCause | undefined): void => {
  if (c.state === tcpState.closed) return;
  if (c.state === tcpState.synReceived) leaveBacklog(context, c);
  c.state = tcpState.closed;
  context.flows.remove(c.slot);
  context.connections[c.slot] = undefined;
  context.timers.clear(c.slot);
  releaseAllQueued(c, context.pieces);
  releaseSent(c, context.sent);
  releaseList(context.pieces, c.earlyHead);
  releaseList(context.pieces, c.rcvHead);
  c.earlyHead = undefined;
  c.earlyTail = undefined;
  c.rcvHead = undefined;
  if (cause === undefined) context.counters.closed++;
  else context.counters.failed++;
  context.ended.push(c);
  c.events.onClose(c, cause);
};

/** Ends a connection with a RST to the peer. */
export const abortConnection = (context: TcpContext, c: TcpConnection, cause: CloseCause): void => {
  if (c.state === tcpState.closed) return;
  emitReset(context, c);
  endConnection(context, c, cause);
};

const record = createTimeWaitRecord();

/** Both FINs are acknowledged and ours was first: the flow waits, the connection is over. */
export const enterTimeWait = (context: TcpContext, c: TcpConnection): void => {
  if (c.mustAck) emitAck(context, c);
  if (c.settings.timeWaitMs > 0) {
    record.sndNxt = c.sndNxt;
    record.rcvNxt = c.rcvNxt;
    record.hasTimestamps = c.usesTimestamps;
    record.tsOffset = c.tsOffset;
    record.tsRecent = c.tsRecent;
    record.tsRecentAt = c.tsRecentAt;
    record.path = c.path;
    record.pseudoSum = c.pseudoSum;
    const { keys } = context.flows;
    context.timeWait.add(keys, c.slot * flowWords, record, context.nowMs + c.settings.timeWaitMs);
  }
  endConnection(context, c, undefined);
};
