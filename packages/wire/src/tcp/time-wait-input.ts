import type { TcpContext, TcpListener } from './context.ts';
import type { IncomingFlow } from './handshake.ts';
import { emitReply } from './reply.ts';
import { tcpFlag } from './segment/segment.ts';
import { isAfter } from './segment/sequence.ts';
import { createTimeWaitRecord } from './time-wait.ts';

const defaultTimeWaitMs = 60_000;
const record = createTimeWaitRecord();

/**
 * Handles the segment of a flow in TIME-WAIT. Returns true if it is a SYN that may take over the flow (RFC 6191; RFC
 * 9293, 3.10.7.4). A RST does not end the wait (RFC 1337).
 */
export const receiveInTimeWait = (
  context: TcpContext,
  slot: number,
  listener: TcpListener | undefined,
  flow: IncomingFlow,
): boolean => {
  const { segment, timeWait } = context;
  timeWait.read(slot, record);
  if ((segment.flags & tcpFlag.rst) !== 0) return false;
  if (listener !== undefined && (segment.flags & (tcpFlag.syn | tcpFlag.ack)) === tcpFlag.syn) {
    const isLaterByTime =
      record.hasTimestamps && segment.hasTimestamps && ((segment.tsValue - record.tsRecent) | 0) > 0;
    if (isLaterByTime || isAfter(segment.seq, record.rcvNxt)) {
      flow.hasMinIss = true;
      flow.minIss = (record.sndNxt + 0x10001) | 0;
      timeWait.remove(slot);
      return true;
    }
  }
  const isRepeatedFin = (segment.flags & tcpFlag.fin) !== 0;
  if (isRepeatedFin) timeWait.renew(slot, context.nowMs + (listener?.settings.timeWaitMs ?? defaultTimeWaitMs));
  if (segment.length === 0 && segment.seq === record.rcvNxt) return false;
  emitReply(context, flow, {
    flags: tcpFlag.ack,
    seq: record.sndNxt,
    ack: record.rcvNxt,
    window: 0,
    hasTimestamps: record.hasTimestamps,
    tsValue: (context.nowMs + record.tsOffset) | 0,
    tsEcho: record.tsRecent,
  });
  return false;
};
