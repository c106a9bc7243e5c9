import { isSumValid, sumBytes } from '../bytes/checksum.ts';
import { copyOf, type Memory } from '../bytes/memory.ts';
import type { SummedBytes } from '../bytes/summed-bytes.ts';
import { type CloseCause, type TcpConnection, type TcpEvents, tcpState } from './connection.ts';
import {
  defaultTcpLimits,
  type SegmentSink,
  type SignatureKeyOf,
  TcpContext,
  type TcpCounters,
  type TcpLimits,
  type TcpListener,
} from './context.ts';
import { abortConnection, endConnection } from './end.ts';
import {
  acceptConnection,
  acceptCookie,
  createConnection,
  type IncomingFlow,
  receiveSyn,
  updateMss,
} from './handshake.ts';
import { askForMore, receiveSegment } from './input.ts';
import { LocalPorts } from './local-ports.ts';
import { repeatTooLarge } from './loss/recovery.ts';
import { queueCopy, queueReference, queueSummed } from './loss/send-queue.ts';
import { emitSyn, output, setRetransmitTimer } from './output.ts';
import { resumeReading } from './receive-data.ts';
import { emitResetFor } from './reply.ts';
import { flowWords, portsWord, pseudoSumOf } from './segment/flow-key.ts';
import { tcpFlag } from './segment/segment.ts';
import type { SegmentShape } from './segment/segment-shape.ts';
import { isAfter, isBefore } from './segment/sequence.ts';
import { isSignatureRight } from './segment/signature-check.ts';
import type { TcpSettings } from './settings.ts';
import { receiveInTimeWait } from './time-wait-input.ts';
import { fireTimers } from './timers.ts';

const minPathMtu = 296;
const urgentByte = Uint8Array.of(0x2e);
/** Refusals of the sink after which `unblock` gives up until it is called again. */
const maxRefused = 64;

export interface TcpOptions {
  readonly sink: SegmentSink;
  /** Microseconds, an integer that only grows. */
  readonly nowUs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly limits?: Partial<TcpLimits>;
  /** Segments to closed ports are answered with RST. */
  readonly answersClosedPorts?: boolean;
}

/**
 * TCP (RFC 9293) of one host group, without I/O: segments come in by `receive`, leave through the sink, time comes from
 * outside. After a batch of calls `flush` sends what they caused. A connection object must not be used after onClose.
 */
export class Tcp {
  /** Told of every request for a new connection, also of those that are refused. The key is valid during the call. */
  onSyn: ((key: Int32Array) => void) | undefined;
  readonly #context: TcpContext;
  readonly #answersClosedPorts: boolean;
  readonly #fire: (slot: number) => void;
  readonly #flow: IncomingFlow = { path: 0, pseudoSum: 0, minIss: 0, hasMinIss: false };
  readonly #ports: LocalPorts;
  #lastCookieMs = 0;

  constructor({ sink, nowUs, random, limits, answersClosedPorts = true }: TcpOptions) {
    const context = new TcpContext(sink, { nowUs, random, limits: { ...defaultTcpLimits, ...limits } });
    this.#context = context;
    this.#answersClosedPorts = answersClosedPorts;
    this.#ports = new LocalPorts(context, random);
    this.#fire = (slot) => {
      const c = context.connections[slot];
      if (c !== undefined) fireTimers(context, c);
    };
  }

  /** Which flows are signed (RFC 2385): connections and answers from now on; what comes unsigned is dropped. */
  set signatureKeyOf(find: SignatureKeyOf | undefined) {
    this.#context.signatureKeyOf = find;
  }

  get counters(): Readonly<TcpCounters> {
    return this.#context.counters;
  }

  /** Connections that exist, TIME-WAIT not counted. */
  get connectionCount(): number {
    return this.#context.flows.count;
  }

  get timeWaitCount(): number {
    return this.#context.timeWait.count;
  }

  /** Pooled memory in use; 0 of each when nothing is connected. */
  get memoryInUse(): { readonly pieces: number; readonly sentSegments: number } {
    return { pieces: this.#context.pieces.inUse, sentSegments: this.#context.sent.inUse };
  }

  /** Local and remote address and port of a connection: 9 words from the offset on. */
  keyOf(c: TcpConnection): { readonly keys: Int32Array; readonly at: number } {
    return { keys: this.#context.flows.keys, at: c.slot * flowWords };
  }

  /**
   * Opens a connection for a flow key (9 words, see `flowWords`). Local port 0: one is chosen. Undefined if the flow
   * exists, no port is free or the limit of connections is reached.
   */
  connect(
    key: Int32Array,
    options: { settings: TcpSettings; events: TcpEvents; path: number; shape?: SegmentShape | undefined },
  ): TcpConnection | undefined {
    const context = this.#context;
    if ((key[portsWord] as number) >>> 16 === 0 && !this.#ports.choose(key)) return undefined;
    if (context.flows.find(key, 0) >= 0) return undefined;
    const waiting = context.timeWait.find(key, 0);
    if (waiting >= 0 && !this.#ports.canReuse(waiting)) return undefined;
    const c = createConnection(context, key, {
      settings: options.settings,
      path: options.path,
      pseudoSum: pseudoSumOf(key),
    });
    if (c === undefined) return undefined;
    if (waiting >= 0) this.#ports.takeOver(c, waiting);
    c.events = options.events;
    c.shape = options.shape;
    c.state = tcpState.synSent;
    emitSyn(context, c);
    setRetransmitTimer(context, c, 1, c.settings.initialRtoMs);
    return c;
  }

  /** Accepts connections to a port of every local address that the layer below lets through. */
  listen(port: number, options: Pick<TcpListener, 'settings' | 'backlog' | 'accept'>): TcpListener {
    const { listeners, listenersByIndex } = this.#context;
    if (listeners.has(port)) throw new RangeError(`port ${port} is in use`);
    const listener: TcpListener = { ...options, port, index: listenersByIndex.length, halfOpen: 0, isClosed: false };
    listeners.set(port, listener);
    listenersByIndex.push(listener);
    return listener;
  }

  /** Stops accepting; connections that exist go on. */
  unlisten(listener: TcpListener): void {
    listener.isClosed = true;
    this.#context.listeners.delete(listener.port);
  }

  /** Sends bytes that the caller does not change until they are acknowledged. */
  send(c: TcpConnection, bytes: Uint8Array, start = 0, end = bytes.length): void {
    if (!this.#canSend(c)) return;
    queueReference(c, this.#context.pieces, bytes, start, end);
    this.#afterSend(c);
  }

  /** Sends bytes that never change: none of them is summed again. */
  sendSummed(c: TcpConnection, summed: SummedBytes): void {
    if (!this.#canSend(c)) return;
    queueSummed(c, this.#context.pieces, summed);
    this.#afterSend(c);
  }

  /** Sends a copy of bytes. Returns how many found room in the pool. */
  sendCopy(c: TcpConnection, bytes: Uint8Array): number {
    if (!this.#canSend(c)) return 0;
    const { pieces } = this.#context;
    const before = c.shape?.isUrgent && !c.hasUrgentOut ? this.#queueUrgent(c, bytes) : 0;
    const taken = queueCopy(c, pieces, before === 0 ? bytes : bytes.subarray(before));
    this.#afterSend(c);
    return before + taken;
  }

  /** Sends what is queued, then a FIN. Data of the peer is still delivered. */
  close(c: TcpConnection): void {
    const context = this.#context;
    if (c.state === tcpState.closed || c.isFinQueued) return;
    if (c.state === tcpState.synSent) {
      endConnection(context, c, 'ECONNABORTED');
      return;
    }
    c.isFinQueued = true;
    if (c.state === tcpState.closeWait) c.state = tcpState.lastAck;
    else if (c.state === tcpState.established) c.state = tcpState.finWait1;
    context.touch(c);
  }

  /** Drops the connection with a RST. */
  abort(c: TcpConnection, cause: CloseCause = 'ECONNABORTED'): void {
    abortConnection(this.#context, c, cause);
  }

  /** Holds received data back; the announced window closes as it fills. */
  pause(c: TcpConnection): void {
    c.isPaused = true;
  }

  resume(c: TcpConnection): void {
    if (c.isPaused && c.state !== tcpState.closed) resumeReading(this.#context, c);
  }

  /**
   * Handles the segment [start, end) of a packet. `addresses` holds the local and the remote address (8 words); `path`
   * is for replies and new connections; `ecn`: two bits of the IP header; `checks`: verify the checksum.
   */
  receive(
    memory: Memory,
    start: number,
    end: number,
    packet: { readonly addresses: Int32Array; readonly path: number; readonly ecn: number; readonly checks: boolean },
  ): void {
    const context = this.#context;
    const { segment, key, counters } = context;
    counters.segmentsReceived++;
    if (!segment.parse(memory, start, end)) {
      counters.badSegments++;
      return;
    }
    const { addresses } = packet;
    for (let i = 0; i < portsWord; i++) key[i] = addresses[i] as number;
    key[portsWord] = (segment.destinationPort << 16) | segment.sourcePort;
    const slot = context.flows.find(key, 0);
    const c = slot >= 0 ? context.connections[slot] : undefined;
    if (packet.checks) {
      const pseudoSum = c === undefined ? pseudoSumOf(key) : c.pseudoSum;
      if (!isSumValid(pseudoSum + (end - start) + sumBytes(memory, start, end))) {
        counters.badChecksums++;
        return;
      }
    }
    if (!isSignatureRight(context, c, memory, start)) return;
    if (c !== undefined) receiveSegment(context, c, memory.bytes, packet.ecn === 3);
    else this.#receiveUnknown(memory, packet.path, packet.ecn === 3);
  }

  /** An ICMP error that quotes a segment of ours: `hard` errors end a connection that is being opened. */
  receiveError(key: Int32Array, quotedSeq: number, error: { mtu: number; cause: CloseCause | undefined }): void {
    const context = this.#context;
    const slot = context.flows.find(key, 0);
    const c = slot >= 0 ? context.connections[slot] : undefined;
    if (c === undefined || isBefore(quotedSeq, c.sndUna) || isAfter(quotedSeq, c.sndNxt)) return;
    if (error.mtu > 0) this.#lowerPathMtu(c, error.mtu);
    else if (error.cause !== undefined && c.state < tcpState.established) endConnection(context, c, error.cause);
  }

  /** The link carries smaller packets than before: connections go on with smaller segments. */
  onLinkMtu(): void {
    const { connections, sink } = this.#context;
    for (const c of connections)
      if (c !== undefined && c.state !== tcpState.closed) this.#lowerPathMtu(c, sink.mtuOf(c.path));
  }

  #lowerPathMtu(c: TcpConnection, given: number): void {
    const mtu = Math.max(given, c.isV6 ? 1280 : minPathMtu);
    if (mtu >= c.pathMtu) return;
    c.pathMtu = mtu;
    updateMss(c);
    repeatTooLarge(c);
    this.#context.touch(c);
  }

  /** Sets the time and runs timers. */
  advance(nowUs: number): void {
    const context = this.#context;
    context.setNow(nowUs);
    context.timers.advance(context.nowMs, this.#fire);
    context.timeWait.expire(context.nowMs);
    this.flush();
  }

  /** Sends what calls since the last flush caused. */
  flush(): void {
    const context = this.#context;
    const { dirty } = context;
    // Output may make further connections dirty; those are appended.
    for (let i = 0; i < dirty.length; i++) {
      const c = dirty[i] as TcpConnection;
      c.isDirty = false;
      if (c.state === tcpState.closed) continue;
      output(context, c);
      if (c.wantsSent && c.state >= tcpState.established) askForMore(c);
    }
    dirty.length = 0;
    if (context.ended.length > 0) context.recycleEnded();
  }

  /** Asks connections that the sink refused again, oldest first, until it has refused too many of them again. */
  unblock(): void {
    const context = this.#context;
    const { blocked } = context;
    const end = blocked.length;
    let refused = 0;
    while (context.blockedHead < end && refused < maxRefused) {
      const c = blocked[context.blockedHead++] as TcpConnection;
      c.isBlocked = false;
      if (c.state === tcpState.closed) continue;
      output(context, c);
      if (c.isBlocked) refused++;
    }
    if (context.blockedHead === blocked.length) blocked.length = 0;
    else if (context.blockedHead < blocked.length >> 1) return;
    else blocked.splice(0, context.blockedHead);
    context.blockedHead = 0;
  }

  /** Connections that wait for the sink. */
  get blockedCount(): number {
    return this.#context.blocked.length - this.#context.blockedHead;
  }

  /** Fails connections that wait for a path that cannot be had. */
  failBlocked(isAffected: (path: number, keys: Int32Array, at: number) => boolean, cause: CloseCause): void {
    const context = this.#context;
    for (const c of context.blocked.slice(context.blockedHead)) {
      if (c.state !== tcpState.synSent && c.state !== tcpState.synReceived) continue;
      if (isAffected(c.path, context.flows.keys, c.slot * flowWords)) endConnection(context, c, cause);
    }
  }

  /** Ends the connections whose path is gone, without a word to their peers. Returns how many there were. */
  failPaths(isGone: (path: number) => boolean, cause: CloseCause): number {
    const context = this.#context;
    const gone = context.connections.filter((c) => c !== undefined && isGone(c.path));
    for (const c of gone) if (c !== undefined) endConnection(context, c, cause);
    return gone.length;
  }

  /** Microseconds until a timer may be due, at most `horizonUs`. */
  idleUs(horizonUs: number): number {
    const { timers, nowMs } = this.#context;
    return Math.max((timers.nextDue(Math.ceil(horizonUs / 1000)) - nowMs) * 1000, 0);
  }

  /** Every connection that exists. */
  *connections(): IterableIterator<TcpConnection> {
    for (const c of this.#context.connections) if (c !== undefined) yield c;
  }

  #canSend(c: TcpConnection): boolean {
    return c.state !== tcpState.closed && !c.isFinQueued;
  }

  /** Queues the first half of the first data and a byte of urgent data. Returns how many of the bytes were queued. */
  #queueUrgent(c: TcpConnection, bytes: Uint8Array): number {
    const { pieces } = this.#context;
    const half = bytes.length >> 1;
    queueReference(c, pieces, copyOf(bytes, 0, half), 0, half);
    c.urgentOut = c.queueEnd;
    c.hasUrgentOut = true;
    queueReference(c, pieces, urgentByte, 0, 1);
    return half;
  }

  #afterSend(c: TcpConnection): void {
    c.wantsSent = true;
    if (c.state >= tcpState.established) this.#context.touch(c);
  }

  #receiveUnknown(memory: Memory, path: number, isMarked: boolean): void {
    const context = this.#context;
    const { segment, key } = context;
    const flow = this.#flow;
    flow.path = path;
    flow.pseudoSum = pseudoSumOf(key);
    flow.hasMinIss = false;
    const listener = context.listeners.get((key[portsWord] as number) >>> 16);
    const waiting = context.timeWait.find(key, 0);
    if (waiting >= 0 && !receiveInTimeWait(context, waiting, listener, flow)) return;
    if ((segment.flags & (tcpFlag.syn | tcpFlag.ack)) === tcpFlag.syn) this.onSyn?.(key);
    if (listener === undefined) {
      if (this.#answersClosedPorts) emitResetFor(context, flow);
      return;
    }
    if ((segment.flags & tcpFlag.rst) !== 0) return;
    if ((segment.flags & tcpFlag.ack) !== 0) {
      const mayBeCookie = this.#lastCookieMs > 0 && (segment.flags & tcpFlag.syn) === 0;
      const c = mayBeCookie ? acceptCookie(context, listener, flow) : undefined;
      if (c === undefined) {
        emitResetFor(context, flow);
        return;
      }
      acceptConnection(context, c, listener);
      if (c.state !== tcpState.closed) receiveSegment(context, c, memory.bytes, isMarked);
      return;
    }
    if ((segment.flags & tcpFlag.syn) === 0) return;
    if (listener.halfOpen >= listener.backlog) this.#lastCookieMs = context.nowMs;
    receiveSyn(context, listener, flow);
  }
}
