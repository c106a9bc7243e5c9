import type { Piece } from '../bytes/piece-pool.ts';
import type { CongestionHistory } from './loss/congestion-history.ts';
import type { SentSegment } from './loss/sent-segment.ts';
import { PackedFields } from './segment/packed-fields.ts';
import type { SegmentShape } from './segment/segment-shape.ts';
import { defaultTcpSettings, type TcpSettings } from './settings.ts';

/** States of RFC 9293. TIME-WAIT has a compact table of its own. */
export const tcpState = {
  closed: 0,
  synSent: 1,
  synReceived: 2,
  established: 3,
  finWait1: 4,
  finWait2: 5,
  closeWait: 6,
  closing: 7,
  lastAck: 8,
} as const;

/** Phases of loss recovery. */
export const recoveryPhase = { open: 0, disorder: 1, windowReduced: 2, recovery: 3, loss: 4 } as const;

/** Uses of the retransmission timer. */
export const retransmitTimer = { none: 0, timeout: 1, lossProbe: 2, persist: 3, reordering: 4 } as const;

/** Why a connection ended; undefined: both sides closed it in order. */
export type CloseCause = 'ECONNREFUSED' | 'ECONNRESET' | 'ETIMEDOUT' | 'EHOSTUNREACH' | 'ENETUNREACH' | 'ECONNABORTED';

/** The application above a connection. Called synchronously; a connection must not be used after `onClose`. */
export interface TcpEvents {
  onOpen(connection: TcpConnection): void;
  /** Bytes [start, end), in order, valid during the call only. */
  onData(connection: TcpConnection, bytes: Uint8Array, start: number, end: number): void;
  /** Everything sent so far fits into the send buffer: there is room for more. */
  onSent(connection: TcpConnection): void;
  /** The peer sends nothing more. */
  onEnd(connection: TcpConnection): void;
  /** Called exactly once, last. */
  onClose(connection: TcpConnection, cause: CloseCause | undefined): void;
}

export const noEvents: TcpEvents = { onOpen() {}, onData() {}, onSent() {}, onEnd() {}, onClose() {} };

/**
 * State of a connection, recycled from a pool. Every number is a 32-bit integer unless a comment says otherwise: V8
 * stores those in the object itself. Sequence numbers are signed.
 */
export class TcpConnection extends PackedFields {
  /** Slot in the table of flows, which holds addresses and ports. */
  slot = -1;
  /** For the layer below, which chooses it: the emulated host. */
  path = 0;
  /** Folded sum of the pseudo-header without the length. */
  pseudoSum = 0;
  settings: TcpSettings = defaultTcpSettings;
  events: TcpEvents = noEvents;
  /** Its segments are signed with it (RFC 2385); undefined: they are not. */
  signatureKey: Uint8Array | undefined = undefined;
  /** Half-open connections count against the backlog of their listener, which has this index; -1: opened by us. */
  listener = -1;

  // Sending. Order: sndUna ≤ sndNxt ≤ queueEnd.
  iss = 0;
  sndUna = 0;
  sndNxt = 0;
  /** Sequence number after the last byte queued by the application. */
  queueEnd = 0;
  sndWnd = 0;
  maxSndWnd = 0;
  /** Sequence and acknowledgement numbers of the segment that last updated the window. */
  sndWl1 = 0;
  sndWl2 = 0;
  /** Largest payload of a segment, options of every segment already subtracted. */
  mss = 536;
  /** Largest segment the peer announced. */
  peerMss = 536;
  /** Largest IP packet of the path. */
  pathMtu = 1500;
  sendHead: Piece | undefined = undefined;
  sendTail: Piece | undefined = undefined;
  /** Piece of the send queue from which sndNxt is read. */
  sendCursor: Piece | undefined = undefined;
  /** Undefined: segments as large as they can be, in order. */
  shape: SegmentShape | undefined = undefined;
  /** Sequence number of a byte of urgent data to be sent, valid if hasUrgentOut. */
  urgentOut = 0;

  // Receiving.
  irs = 0;
  rcvNxt = 0;
  /** Right edge of the window announced last. */
  rcvAdvertised = 0;
  /** Bytes received in order and held while reading is paused. */
  rcvHeld = 0;
  rcvHead: Piece | undefined = undefined;
  rcvTail: Piece | undefined = undefined;
  /** Sequence number of the byte of urgent data that is on its way, valid if hasUrgent. */
  urgentAt = 0;
  /** Data that came out of order, sorted by sequence number, without overlaps. */
  earlyHead: Piece | undefined = undefined;
  earlyTail: Piece | undefined = undefined;
  /** Start of the run of early data that grew last: the first SACK block. */
  earlyLatest = 0;
  /** Sequence number of a FIN that came out of order, valid if hasEarlyFin. */
  earlyFin = 0;
  /** Bytes received in order since the last acknowledgement. */
  unacknowledged = 0;
  /** Largest payload received: the size of a full segment of the peer. */
  rcvMss = 0;
  /** Range to be reported as received twice (RFC 2883); empty if equal. */
  duplicateStart = 0;
  duplicateEnd = 0;

  // Options in use.
  tsOffset = 0;
  tsRecent = 0;
  /** Tick at which tsRecent was set. */
  tsRecentAt = 0;

  // Round-trip time, in microseconds.
  srtt = 0;
  rttVar = 0;
  minRtt = 0;
  rtoMs = 1000;

  // Congestion control, in bytes.
  cwnd = 0;
  ssthresh = 0;
  /** More than what was sent up to here did not fit into the window: its acknowledgements let the window grow. */
  limitedUntil = 0;
  /** From the first loss on. */
  history: CongestionHistory | undefined = undefined;
  /** Loss recovery ends when this is acknowledged. */
  recoveryPoint = 0;
  dupAcks = 0;

  // Scoreboard of sent segments.
  sentHead: SentSegment | undefined = undefined;
  sentTail: SentSegment | undefined = undefined;
  sackedBytes = 0;
  lostBytes = 0;
  retransmittedBytes = 0;
  /** RACK (RFC 8985): send time and end of the latest sent segment that was delivered, and its round-trip time. */
  rackSentAt = 0;
  rackEnd = 0;
  rackRtt = 0;
  rackReorderWindow = 1;
  /** Highest byte selectively acknowledged. */
  highestSacked = 0;
  /** End of the data a tail-loss probe is out for, valid if isProbing. */
  probeEnd = 0;

  // Timers: ticks at which they fire, 0: not set.
  retransmitAt = 0;
  delayedAckAt = 0;
  keepAliveAt = 0;
  lastReceivedAt = 0;

  nextFree: TcpConnection | undefined = undefined;

  // Counters.
  retransmits = 0;

  /** Bytes queued by the application that are not acknowledged. */
  get queuedBytes(): number {
    return (this.queueEnd - this.sndUna) | 0;
  }

  /** Bytes believed to be in the network. */
  get pipe(): number {
    return ((this.sndNxt - this.sndUna) | 0) - this.sackedBytes - this.lostBytes + this.retransmittedBytes;
  }
}

// Written out: a loop over names would turn every connection into a dictionary. Membership in lists is not reset,
// because a connection may end while it is in one.
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table of fields
export const resetConnection = (c: TcpConnection): void => {
  c.resetPacked();
  c.slot = -1;
  c.path = 0;
  c.pseudoSum = 0;
  c.settings = defaultTcpSettings;
  c.events = noEvents;
  c.signatureKey = undefined;
  c.listener = -1;
  c.iss = 0;
  c.sndUna = 0;
  c.sndNxt = 0;
  c.queueEnd = 0;
  c.sndWnd = 0;
  c.maxSndWnd = 0;
  c.sndWl1 = 0;
  c.sndWl2 = 0;
  c.mss = 536;
  c.peerMss = 536;
  c.pathMtu = 1500;
  c.sendHead = undefined;
  c.sendTail = undefined;
  c.sendCursor = undefined;
  c.shape = undefined;
  c.urgentOut = 0;
  c.irs = 0;
  c.rcvNxt = 0;
  c.rcvAdvertised = 0;
  c.rcvHeld = 0;
  c.rcvHead = undefined;
  c.rcvTail = undefined;
  c.urgentAt = 0;
  c.earlyHead = undefined;
  c.earlyTail = undefined;
  c.earlyLatest = 0;
  c.earlyFin = 0;
  c.unacknowledged = 0;
  c.rcvMss = 0;
  c.duplicateStart = 0;
  c.duplicateEnd = 0;
  c.tsOffset = 0;
  c.tsRecent = 0;
  c.tsRecentAt = 0;
  c.srtt = 0;
  c.rttVar = 0;
  c.minRtt = 0;
  c.rtoMs = 1000;
  c.cwnd = 0;
  c.ssthresh = 0;
  c.limitedUntil = 0;
  c.history = undefined;
  c.recoveryPoint = 0;
  c.dupAcks = 0;
  c.sentHead = undefined;
  c.sentTail = undefined;
  c.sackedBytes = 0;
  c.lostBytes = 0;
  c.retransmittedBytes = 0;
  c.rackSentAt = 0;
  c.rackEnd = 0;
  c.rackRtt = 0;
  c.rackReorderWindow = 1;
  c.highestSacked = 0;
  c.probeEnd = 0;
  c.retransmitAt = 0;
  c.delayedAckAt = 0;
  c.keepAliveAt = 0;
  c.lastReceivedAt = 0;
  c.retransmits = 0;
};
