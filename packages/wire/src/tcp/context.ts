import { KeyTable } from '../bytes/key-table.ts';
import { KeyedHash } from '../bytes/keyed-hash.ts';
import type { Memory } from '../bytes/memory.ts';
import { PiecePool } from '../bytes/piece-pool.ts';
import { TimerWheel } from '../bytes/timer-wheel.ts';
import { resetConnection, TcpConnection, type TcpEvents } from './connection.ts';
import { Delivery } from './loss/scoreboard.ts';
import { SentSegmentPool } from './loss/sent-segment.ts';
import { flowWords } from './segment/flow-key.ts';
import { Segment } from './segment/segment.ts';
import type { TcpSettings } from './settings.ts';
import { TimeWaitTable } from './time-wait.ts';

/** Takes segments that are cut into smaller ones below. */
export interface SegmentBurst {
  /** Longest one, with its header; 0: none can be sent. */
  readonly maxBytes: number;
  /** As `begin` and `commit` of the sink. The checksum written covers the pseudo-header alone. */
  begin(keys: Int32Array, at: number, path: number, length: number): number;
  commit(offset: number, length: number, ecn: number, segmentBytes: number): void;
}

/** Takes segments of a stack. */
export interface SegmentSink {
  /** Memory that segments are written into. */
  readonly memory: Memory;
  /**
   * Offset for a segment of up to `length` bytes, or -1 if none can be sent now: the stack asks again on the next
   * `unblock`. `keys` holds the key of the flow at `at`. `fragmentBytes`: the packet leaves in fragments of that size.
   */
  begin(keys: Int32Array, at: number, path: number, length: number, fragmentBytes?: number): number;
  /** Sends the segment that was written at the offset of the last `begin`; `ecn` and `ttl` go to the IP header. */
  commit(offset: number, length: number, ecn: number, ttl?: number): void;
  /** Largest IP packet towards the remote end of a flow. */
  mtuOf(path: number): number;
  readonly burst?: SegmentBurst;
}

/** A port that accepts connections. */
export interface TcpListener {
  readonly index: number;
  readonly port: number;
  readonly settings: TcpSettings;
  /** Half-open connections; above the limit SYN cookies are sent. */
  readonly backlog: number;
  halfOpen: number;
  isClosed: boolean;
  /** Called when a connection is established; undefined resets it. */
  accept(connection: TcpConnection): TcpEvents | undefined;
}

export interface TcpCounters {
  segmentsReceived: number;
  segmentsSent: number;
  badChecksums: number;
  badSegments: number;
  /** Segments of signed flows (RFC 2385) that were dropped: with a wrong signature, and without any. */
  badSignatures: number;
  missingSignatures: number;
  retransmits: number;
  timeouts: number;
  lossProbes: number;
  fastRecoveries: number;
  resetsSent: number;
  resetsReceived: number;
  challengeAcks: number;
  cookiesSent: number;
  cookiesAccepted: number;
  cookiesRejected: number;
  opened: number;
  accepted: number;
  closed: number;
  failed: number;
  earlyDropped: number;
  droppedByPaws: number;
  zeroWindowProbes: number;
  keepAliveProbes: number;
}

/** The key with which segments of a flow (see `flowWords`) are signed; undefined: they are not. */
export type SignatureKeyOf = (flow: Int32Array) => Uint8Array | undefined;

const zeroCounters = (): TcpCounters => ({
  segmentsReceived: 0,
  segmentsSent: 0,
  badChecksums: 0,
  badSegments: 0,
  badSignatures: 0,
  missingSignatures: 0,
  retransmits: 0,
  timeouts: 0,
  lossProbes: 0,
  fastRecoveries: 0,
  resetsSent: 0,
  resetsReceived: 0,
  challengeAcks: 0,
  cookiesSent: 0,
  cookiesAccepted: 0,
  cookiesRejected: 0,
  opened: 0,
  accepted: 0,
  closed: 0,
  failed: 0,
  earlyDropped: 0,
  droppedByPaws: 0,
  zeroWindowProbes: 0,
  keepAliveProbes: 0,
});

export interface TcpLimits {
  /** Connections that may exist at once, half-open ones included. */
  readonly maxConnections: number;
  readonly maxTimeWait: number;
  /** Pieces of 2 KiB for copied data to be sent and data received early, all connections together. */
  readonly maxPieces: number;
  readonly challengeAcksPerSecond: number;
}

export const defaultTcpLimits: TcpLimits = {
  maxConnections: 2_000_000,
  maxTimeWait: 262_144,
  maxPieces: 65_536,
  challengeAcksPerSecond: 1000,
};

const pieceBytes = 2048;

/** Everything that connections of one stack share. */
export class TcpContext {
  readonly sink: SegmentSink;
  readonly limits: TcpLimits;
  readonly flows: KeyTable;
  /** Connection of each slot of `flows`. */
  readonly connections: (TcpConnection | undefined)[] = [];
  readonly timers: TimerWheel;
  readonly timeWait: TimeWaitTable;
  readonly pieces: PiecePool;
  readonly sent = new SentSegmentPool();
  readonly listeners = new Map<number, TcpListener>();
  readonly listenersByIndex: (TcpListener | undefined)[] = [];
  readonly segment = new Segment();
  readonly delivery = new Delivery();
  /** Key of the segment that is being handled. */
  readonly key = new Int32Array(flowWords);
  readonly hash: KeyedHash;
  readonly counters = zeroCounters();
  /** Connections with something to send at the end of the batch. */
  readonly dirty: TcpConnection[] = [];
  /** Connections that the sink refused, from `blockedHead` on; asked again on `unblock`. */
  readonly blocked: TcpConnection[] = [];
  blockedHead = 0;
  /** Connections that ended since the last `recycleEnded`. */
  readonly ended: TcpConnection[] = [];
  /** Time of the call in progress: microseconds modulo 2^32, and milliseconds since the stack began. */
  nowUs = 0;
  nowMs = 1;
  readonly #startUs: number;
  #free: TcpConnection | undefined = undefined;
  /** Connections ever made; the pool never shrinks. */
  made = 0;
  challengeSecond = 0;
  challengeCount = 0;
  readonly cookieSecret: KeyedHash;
  /** Undefined: nothing is signed. */
  signatureKeyOf: SignatureKeyOf | undefined = undefined;

  constructor(sink: SegmentSink, options: { nowUs: number; random: () => number; limits: TcpLimits }) {
    const { random, limits } = options;
    const word = () => Math.floor(random() * 2 ** 32) | 0;
    this.sink = sink;
    this.limits = limits;
    this.#startUs = options.nowUs - 1000;
    this.setNow(options.nowUs);
    this.flows = new KeyTable({ width: flowWords, seed: word() });
    this.timers = new TimerWheel(this.nowMs);
    this.timeWait = new TimeWaitTable({ width: flowWords, seed: word(), max: limits.maxTimeWait });
    this.pieces = new PiecePool({ pieceBytes, maxOwned: limits.maxPieces });
    this.hash = new KeyedHash(word(), word());
    this.cookieSecret = new KeyedHash(word(), word());
  }

  setNow(nowUs: number): void {
    this.nowUs = nowUs | 0;
    this.nowMs = Math.floor((nowUs - this.#startUs) / 1000) | 0;
  }

  /** A connection in its initial state; undefined at the limit. */
  take(): TcpConnection | undefined {
    if (this.flows.count >= this.limits.maxConnections) return undefined;
    const connection = this.#free;
    if (connection === undefined) {
      this.made++;
      return new TcpConnection();
    }
    this.#free = connection.nextFree;
    connection.nextFree = undefined;
    return connection;
  }

  /** Adds a connection with the key in `key` to the table. */
  insert(connection: TcpConnection, key: Int32Array): void {
    connection.slot = this.flows.add(key, 0);
    this.connections[connection.slot] = connection;
  }

  /** Returns ended connections to the pool. Not while one of their events may still be running. */
  recycleEnded(): void {
    const { ended } = this;
    for (let i = 0; i < ended.length; i++) {
      const connection = ended[i] as TcpConnection;
      resetConnection(connection);
      connection.nextFree = this.#free;
      this.#free = connection;
    }
    ended.length = 0;
  }

  /** Remembers that a connection may have something to send. */
  touch(c: TcpConnection): void {
    if (c.isDirty) return;
    c.isDirty = true;
    this.dirty.push(c);
  }

  /** Remembers that the sink has refused a segment of a connection. */
  block(c: TcpConnection): void {
    if (c.isBlocked) return;
    c.isBlocked = true;
    this.blocked.push(c);
  }

  /** Makes sure the wheel wakes the connection not later than at the tick. Later timers are found when it fires. */
  wake(c: TcpConnection, tick: number): void {
    if (this.timers.isSet(c.slot) && this.timers.dueOf(c.slot) <= tick) return;
    this.timers.set(c.slot, tick);
  }
}
