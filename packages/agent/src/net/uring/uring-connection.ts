import { errno } from '../kernel/errno.ts';
import { pendingError, shutDownWriting } from '../kernel/socket.ts';
import { SocketConnection } from '../transport/socket-connection.ts';
import type { BufferRing } from './buffer-ring.ts';
import { cqeFlag, opcode, pollEvent, recvFlag, sqeFlag } from './ring-layout.ts';
import { kind, type Requester, type UringPoller } from './uring-poller.ts';

const messageFlag = { dontWait: 0x40, waitAll: 0x100, noSignal: 0x4000 } as const;

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
  #isConnecting = false;
  #isReceiving = false;
  /** A connection for one answer reads once: then nothing keeps it when it is to leave. */
  #hasReceived = false;
  /** In the table of files, once it is known to be used again; or -1. */
  #filePlace = -1;
  /** Bytes of a send that did not wait: it reports only what it could not do. */
  #hoped = 0;

  constructor(poller: UringPoller, deps: UringConnectionDeps) {
    super(poller);
    this.#poller = poller;
    this.#buffers = deps.buffers;
    this.#onGone = deps.onGone;
    this.#leavesAtOnce = deps.leavesAtOnce;
    this.#slot = poller.takeSlot(this);
  }

  onConnecting(fd: number): void {
    this.fd = fd;
    const at = this.#request(opcode.pollAdd, kind.connect);
    this.#poller.ring.setOperationFlags(at, pollEvent.out);
    this.#isConnecting = true;
  }

  onAccepted(fd: number): void {
    this.fd = fd;
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

  protected override transmit(): void {
    const { ring } = this.#poller;
    const { dontWait, waitAll, noSignal } = messageFlag;
    const { out } = this;
    this.#hoped = 0;
    // Small pieces usually fit: they are tried without waiting, and only what did not fit is heard of.
    const isHopeful = this.events.onSent === undefined && !this.hasEnded && out.length <= 65_536;
    const at = this.#request(opcode.send, isHopeful ? kind.send : kind.waitingSend);
    ring.setBuffer(at, out.address, out.length);
    if (isHopeful) {
      ring.setOperationFlags(at, dontWait | waitAll | noSignal);
      ring.setFlags(at, sqeFlag.skipSuccess, 0);
      this.#hoped = out.length;
      out.advance(out.length);
    } else {
      ring.setOperationFlags(at, waitAll | noSignal);
      this.isSending = true;
    }
  }

  protected override shutDown(): void {
    // By then what was said before has left, or waits for room and is followed by another goodbye.
    this.#poller.soon(() => {
      if (!this.isGone && !this.isSending) shutDownWriting(this.fd);
    });
  }

  protected override dispose(): void {
    const { ring, files } = this.#poller;
    // At once, and not in turn with requests: one that is not handed over yet is awaited, so there is none by now.
    if (this.#filePlace >= 0) files.remove(this.#filePlace);
    this.#filePlace = -1;
    if (this.fd >= 0) ring.setFlags(this.#request(opcode.close, kind.quiet), sqeFlag.skipSuccess, 0);
    this.out.clear();
    this.#poller.freeSlot(this.#slot);
    this.#onGone(this);
  }

  #receive(): void {
    const { ring, files } = this.#poller;
    const isOnce = this.#leavesAtOnce && !this.#hasReceived;
    if (this.#hasReceived && this.#filePlace < 0) this.#filePlace = files.add(this.fd);
    const at = this.#request(opcode.recv, kind.recv);
    ring.setFlags(at, sqeFlag.bufferSelect, isOnce ? recvFlag.waitFirst : recvFlag.multishot);
    ring.setBufferGroup(at, this.#buffers.group);
    this.#isReceiving = true;
  }

  #received(result: number, flags: number): void {
    this.#isReceiving = (flags & cqeFlag.more) !== 0;
    if (result > 0) {
      this.#hasReceived = true;
      const id = flags >>> 16;
      this.arrived(this.#buffers.chunkOf(id, result, this.#poller.now));
      this.#buffers.giveBack(id);
      if (this.#isReceiving || this.isGone) return;
      if (this.isLeaving) this.leave();
      else this.#receive();
    } else if (result === -errno.ENOBUFS) {
      this.#buffers.grow();
      this.#receive();
    } else if (result === 0) this.peerEnded();
    else this.fail(-result);
  }

  /** `result`: what the socket is ready for, or an error. */
  #connected(result: number): void {
    this.#isConnecting = false;
    if (this.isDropped) this.fail(0);
    else if (result === pollEvent.out) {
      this.#receive();
      this.opened();
    } else this.fail(result < 0 ? -result : pendingError(this.fd));
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
    const at = this.#request(opcode.send, kind.waitingSend);
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

  #request(operation: number, requestKind: number): number {
    const { ring } = this.#poller;
    const place = this.#filePlace;
    const at = ring.request(operation, place < 0 ? this.fd : place, this.#poller.tokenOf(this.#slot, requestKind));
    if (place >= 0) ring.setFlags(at, sqeFlag.fixedFile, 0);
    return at;
  }
}
