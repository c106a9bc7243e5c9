import { foldSum } from '../bytes/checksum.ts';
import { recoveryPhase, type TcpConnection } from './connection.ts';
import type { SegmentBurst, TcpContext } from './context.ts';
import { historyOf } from './loss/congestion.ts';
import { appendSent } from './loss/scoreboard.ts';
import { copyQueued } from './loss/send-queue.ts';
import { windowToAnnounce } from './receive-window.ts';
import { flowWords, portsWord } from './segment/flow-key.ts';
import { minHeaderLength, tcpFlag, writeHeader, writeTimestamps } from './segment/segment.ts';
import { distance } from './segment/sequence.ts';

const ectZero = 2;
const timestampBytes = 12;
/** Fewer segments are sent one by one. */
const minSegments = 3;

/** Full segments of new data that can be sent now, without the last data before a FIN. */
const burstSegments = (c: TcpConnection, maxBytes: number): number => {
  const queued = distance(c.queueEnd, c.sndNxt) - (c.isFinQueued ? 1 : 0);
  const usable = Math.min(distance((c.sndUna + c.sndWnd) | 0, c.sndNxt), c.cwnd - c.pipe);
  return Math.floor(Math.min(queued, usable, maxBytes - minHeaderLength - timestampBytes) / c.mss);
};

/** Writes a segment with `length` bytes of the send queue. Returns false if the sink has no room. */
const emitBurst = (context: TcpContext, c: TcpConnection, burst: SegmentBurst, length: number): boolean => {
  const { sink, flows } = context;
  const { keys } = flows;
  const key = c.slot * flowWords;
  const headerBytes = minHeaderLength + (c.usesTimestamps ? timestampBytes : 0);
  const at = burst.begin(keys, key, c.path, headerBytes + length);
  if (at < 0) return false;
  const { memory } = sink;
  const { view } = memory;
  if (c.usesTimestamps) writeTimestamps(view, at + minHeaderLength, (context.nowMs + c.tsOffset) | 0, c.tsRecent);
  let flags: number = tcpFlag.ack;
  if (((c.sndNxt + length) | 0) === c.queueEnd) flags |= tcpFlag.psh;
  if (c.echoesCongestion) flags |= tcpFlag.ece;
  const ports = keys[key + portsWord] as number;
  writeHeader(view, at, ports, c.sndNxt, c.rcvNxt, (headerBytes << 10) | flags, windowToAnnounce(c));
  copyQueued(c, c.sndNxt, length, memory.bytes, at + headerBytes);
  view.setUint16(at + 16, foldSum(c.pseudoSum + headerBytes + length));
  c.mustAck = false;
  c.delayedAckAt = 0;
  c.unacknowledged = 0;
  burst.commit(at, headerBytes + length, c.usesEcn ? ectZero : 0, c.mss);
  return true;
};

/**
 * Sends many full segments of new data as one, where what is below cuts it. Returns how many; 0: they are too few, or
 * have a form of their own; -1: there is no room.
 */
export const sendBurst = (context: TcpContext, c: TcpConnection): number => {
  const { burst } = context.sink;
  if (burst === undefined || distance(c.queueEnd, c.sndNxt) < minSegments * c.mss) return 0;
  if (c.shape !== undefined || c.signatureKey !== undefined || c.mustSendCwr) return 0;
  const segments = burstSegments(c, burst.maxBytes);
  if (segments < minSegments) return 0;
  if (!emitBurst(context, c, burst, segments * c.mss)) {
    context.block(c);
    return -1;
  }
  for (let sent = 0; sent < segments; sent++) {
    const end = (c.sndNxt + c.mss) | 0;
    appendSent(c, context.sent.take(c.sndNxt, end, context.nowUs));
    c.sndNxt = end;
  }
  if (c.phase >= recoveryPhase.recovery) historyOf(c).prrOut += segments * c.mss;
  context.counters.segmentsSent += segments;
  return segments;
};
