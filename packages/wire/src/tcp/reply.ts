import { checksumOf, sumBytes } from '../bytes/checksum.ts';
import type { TcpContext } from './context.ts';
import { portsWord } from './segment/flow-key.ts';
import { minHeaderLength, tcpFlag, writeHeader, writeTimestamps } from './segment/segment.ts';
import { signatureBytes, signSegment } from './segment/signature.ts';

export interface ReplyFlow {
  path: number;
  pseudoSum: number;
}

/** A segment without data to the flow in `key`, for which there is no connection. */
export const emitReply = (
  context: TcpContext,
  flow: ReplyFlow,
  reply: {
    flags: number;
    seq: number;
    ack: number;
    window: number;
    hasTimestamps: boolean;
    tsValue: number;
    tsEcho: number;
  },
): void => {
  const { sink, key } = context;
  const secret = context.signatureKeyOf?.(key);
  const at = sink.begin(key, 0, flow.path, 32 + (secret === undefined ? 0 : signatureBytes));
  if (at < 0) return;
  const { view } = sink.memory;
  let end = at + minHeaderLength + (secret === undefined ? 0 : signatureBytes);
  if (reply.hasTimestamps) {
    writeTimestamps(view, end, reply.tsValue, reply.tsEcho);
    end += 12;
  }
  writeHeader(view, at, key[portsWord] as number, reply.seq, reply.ack, ((end - at) << 10) | reply.flags, reply.window);
  if (secret !== undefined) signSegment(sink.memory, at, end, { keys: key, at: 0, secret });
  view.setUint16(at + 16, checksumOf(flow.pseudoSum + (end - at) + sumBytes(sink.memory, at, end)));
  context.counters.segmentsSent++;
  sink.commit(at, end - at, 0);
};

const reset = { flags: 0, seq: 0, ack: 0, window: 0, hasTimestamps: false, tsValue: 0, tsEcho: 0 };

/** Answers a segment that belongs to nothing (RFC 9293, 3.10.7.1). */
export const emitResetFor = (context: TcpContext, flow: ReplyFlow): void => {
  const { segment } = context;
  if ((segment.flags & tcpFlag.rst) !== 0) return;
  const hasAck = (segment.flags & tcpFlag.ack) !== 0;
  reset.flags = hasAck ? tcpFlag.rst : tcpFlag.rst | tcpFlag.ack;
  reset.seq = hasAck ? segment.ack : 0;
  reset.ack = hasAck ? 0 : (segment.seq + segment.length) | 0;
  context.counters.resetsSent++;
  emitReply(context, flow, reset);
};
