import { errno } from '../kernel/errno.ts';
import { writeSocketAddress } from '../kernel/socket-address.ts';
import { SocketConnection } from '../socket-connection.ts';
import type { Route } from '../transport.ts';
import type { BufferRing } from './buffer-ring.ts';
import { cqeFlag, multishot, opcode, sqeFlag } from './ring-layout.ts';
import { kind, type Requester, type UringPoller } from './uring-poller.ts';

const messageFlag = { dontWait: 0x40, waitAll: 0x100, noSignal: 0x4000 } as const;
const shutdownWrite = 1;

export interface UringConnectionDeps {
  readonly buffers: BufferRing;
  readonly leavesAtOnce: boolean;
  readonly onGone: (connection: UringConnection) => void;
}

/** A connection whose reads, writes and end are requests on the ring. */
export class UringConnection extends SocketConnection implements Requester {
  readonly #poller: UringPoller;
  readonly #buffers: BufferRing;
  readonly #slot: number;
  readonly #leavesAtOnce: boolean;
  readonly #onGone: (connection: UringConnection) => void;
  readonly #chunk: { bytes: Buffer; start: number; end: number; now: number };
  #isConnecting = false;
  #isReceiving = false;
  /** A connection for one answer reads once: then nothing keeps it when it is to leave. */
  #hasReceived = false;
  /** Bytes of a send that did not wait: it reports only what it could not do. */
  #hoped = 0;

  constructor(fd: number, poller: UringPoller, deps: UringConnectionDeps) {
    super(fd, poller);
    this.#poller = poller;
    this.#buffers = deps.buffers;
    this.#onGone = deps.onGone;
    this.#leavesAtOnce = deps.leavesAtOnce;
    this.#slot = poller.takeSlot(this);
    this.#chunk = { bytes: deps.buffers.bytes, start: 0, end: 0, now: 0 };
  }

  connect(route: Route): void {
    const { ring } = this.#poller;
    const place = this.#poller.addressOf(this.#slot);
    const length = writeSocketAddress(place.bytes, place.offset, route);
    const at = ring.request(opcode.connect, this.fd, this.#token(kind.connect));
    ring.setBuffer(at, place.address, 0);
    ring.setOffset(at, length);
    this.#isConnecting = true;
  }

  /** For connections that were accepted. */
  begin(): void {
    this.isOpen = true;
    this.#receive();
  }

  complete(requestKind: number, result: number, flags: number): void {
    if (requestKind === kind.recv) this.#received(result, flags);
    else if (requestKind === kind.send) this.#fellShort(result);
    else if (requestKind === kind.waitingSend) this.#sent(result);
    else if (requestKind === kind.connect) this.#connected(result);
  }

  protected override get isAwaited(): boolean {
    return this.#isConnecting || this.#isReceiving || this.isSending;
  }

  protected override get mayLeave(): boolean {
    return this.#leavesAtOnce && !this.#isReceiving;
  }

  protected override transmit(isLast: boolean): void {
    const { ring } = this.#poller;
    const { dontWait, waitAll, noSignal } = messageFlag;
    const { out } = this;
    this.#hoped = 0;
    // Small pieces usually fit: they are tried without waiting, and only what did not fit is heard of.
    const isHopeful = this.events.onSent === undefined && !this.hasEnded && out.length <= 65_536;
    const at = ring.request(opcode.send, this.fd, this.#token(isHopeful ? kind.send : kind.waitingSend));
    ring.setBuffer(at, out.address, out.length);
    if (isHopeful) {
      ring.setOperationFlags(at, dontWait | waitAll | noSignal);
      ring.setFlags(at, sqeFlag.skipSuccess | (isLast ? sqeFlag.link : 0), 0);
      this.#hoped = out.length;
      out.advance(out.length);
    } else {
      ring.setOperationFlags(at, waitAll | noSignal);
      this.isSending = true;
    }
  }

  protected override shutDown(): void {
    const { ring } = this.#poller;
    const at = ring.request(opcode.shutdown, this.fd, this.#token(kind.quiet));
    ring.setBuffer(at, 0, shutdownWrite);
    ring.setFlags(at, sqeFlag.skipSuccess, 0);
  }

  protected override dispose(): void {
    const { ring } = this.#poller;
    const at = ring.request(opcode.close, this.fd, this.#token(kind.quiet));
    ring.setFlags(at, sqeFlag.skipSuccess, 0);
    this.out.clear();
    this.#poller.freeSlot(this.#slot);
    this.#onGone(this);
  }

  #receive(): void {
    const { ring } = this.#poller;
    const at = ring.request(opcode.recv, this.fd, this.#token(kind.recv));
    const isOnce = this.#leavesAtOnce && !this.#hasReceived;
    ring.setFlags(at, sqeFlag.bufferSelect, isOnce ? 0 : multishot.recv);
    ring.setBufferGroup(at, this.#buffers.group);
    this.#isReceiving = true;
  }

  #received(result: number, flags: number): void {
    this.#isReceiving = (flags & cqeFlag.more) !== 0;
    if (result > 0) {
      this.#hasReceived = true;
      const id = flags >>> 16;
      const chunk = this.#chunk;
      chunk.start = this.#buffers.offsetOf(id);
      chunk.end = chunk.start + result;
      chunk.now = this.#poller.now;
      this.arrived(chunk);
      this.#buffers.giveBack(id);
      if (this.#isReceiving || this.isGone) return;
      if (this.isLeaving) this.leave();
      else this.#receive();
    } else if (result === -errno.ENOBUFS) this.#receive();
    else if (result === 0) this.peerEnded();
    else this.fail(-result);
  }

  #connected(result: number): void {
    this.#isConnecting = false;
    if (result < 0) {
      this.fail(-result);
      return;
    }
    this.#receive();
    this.opened();
  }

  /** A hopeful send has sent only so much, or nothing. */
  #fellShort(result: number): void {
    if (this.isGone) return;
    if (result < 0 && result !== -errno.EAGAIN) {
      this.#broken(-result);
      return;
    }
    const rest = this.#hoped - Math.max(0, result);
    this.out.length = rest;
    this.out.address -= rest;
    this.#sendWaiting();
  }

  #sendWaiting(): void {
    const { ring } = this.#poller;
    const at = ring.request(opcode.send, this.fd, this.#token(kind.waitingSend));
    ring.setBuffer(at, this.out.address, this.out.length);
    ring.setOperationFlags(at, messageFlag.waitAll | messageFlag.noSignal);
    this.isSending = true;
  }

  #sent(result: number): void {
    this.isSending = false;
    if (this.isGone) return;
    if (result < 0) this.#broken(-result);
    else {
      this.out.advance(result);
      if (this.out.length > 0) this.#sendWaiting();
      else this.#drained();
    }
  }

  #drained(): void {
    if (this.out.isDrained) this.events.onSent?.(this.#poller.now);
    this.goOn();
  }

  /** The peer is gone. What it has sent before is still read; the end of reading ends the connection. */
  #broken(error: number): void {
    this.noteError(error);
    this.out.clear();
    if (!this.#isReceiving) this.fail(error);
  }

  #token(requestKind: number): number {
    return this.#poller.tokenOf(this.#slot, requestKind);
  }
}
