import { errno } from '../kernel/errno.ts';
import { pendingError, shutDownWriting } from '../kernel/socket.ts';
import { SocketConnection } from '../transport/socket-connection.ts';
import type { BufferRing } from './buffer-ring.ts';
import { cqeFlag, opcode, pollEvent, recvFlag, sqeFlag } from './ring-layout.ts';
import { type CompletionHandler, kind, type UringPoller } from './uring-poller.ts';

const messageFlag = { dontWait: 0x40, waitAll: 0x100, noSignal: 0x4000 } as const;

export interface UringConnectionDeps {
  readonly buffers: BufferRing;
  readonly closesImmediately: boolean;
  readonly onClosed: (connection: UringConnection) => void;
}

/** A connection whose reads, writes and close are io_uring requests. */
export class UringConnection extends SocketConnection implements CompletionHandler {
  readonly #poller: UringPoller;
  readonly #buffers: BufferRing;
  readonly #slot: number;
  readonly #closesImmediately: boolean;
  readonly #onClosed: (connection: UringConnection) => void;
  #isConnecting = false;
  #isReceiving = false;
  /** A connection for a single answer uses a single-shot receive, so that no pending request delays its close. */
  #hasReceived = false;
  /** Slot in the registered file table, taken once the connection is used repeatedly; or -1. */
  #fileSlot = -1;
  /** Bytes of the last non-waiting send, which reports only failures. */
  #optimisticBytes = 0;

  constructor(poller: UringPoller, deps: UringConnectionDeps) {
    super(poller);
    this.#poller = poller;
    this.#buffers = deps.buffers;
    this.#onClosed = deps.onClosed;
    this.#closesImmediately = deps.closesImmediately;
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

  /** Nothing of what was sent without waiting has come back. */
  settle(): void {
    if (!this.isSending) this.out.settle();
  }

  complete(requestKind: number, result: number, flags: number): void {
    if (requestKind === kind.recv) this.#received(result, flags);
    else if (requestKind === kind.send) this.#sentPartially(result);
    else if (requestKind === kind.waitingSend) this.#sent(result);
    else if (requestKind === kind.connect) this.#connected(result);
  }

  protected override get hasPendingEvents(): boolean {
    return this.#isConnecting || this.#isReceiving || this.isSending;
  }

  protected override get canCloseImmediately(): boolean {
    return this.#closesImmediately && !this.#isReceiving;
  }

  protected override transmit(): void {
    const { ring } = this.#poller;
    const { dontWait, waitAll, noSignal } = messageFlag;
    const { out } = this;
    this.#optimisticBytes = 0;
    // Small chunks usually fit the send buffer: they are sent without waiting, and only failures are reported.
    const isOptimistic = this.events.onSent === undefined && !this.hasEnded && out.length <= 65_536;
    const at = this.#request(opcode.send, isOptimistic ? kind.send : kind.waitingSend);
    ring.setBuffer(at, out.address, out.length);
    if (isOptimistic) {
      ring.setOperationFlags(at, dontWait | waitAll | noSignal);
      ring.setFlags(at, sqeFlag.skipSuccess, 0);
      this.#optimisticBytes = out.length;
      out.advance(out.length);
      this.#poller.settleLater(this);
    } else {
      ring.setOperationFlags(at, waitAll | noSignal);
      this.isSending = true;
    }
  }

  protected override shutDown(): void {
    // By then earlier data has left, or a waiting send will be followed by another FIN.
    this.#poller.defer(() => {
      if (!this.isClosed && !this.isSending) shutDownWriting(this.fd);
    });
  }

  protected override dispose(): void {
    const { ring, files } = this.#poller;
    // Removed immediately, not queued: requests not yet submitted are pending events, so there are none by now.
    if (this.#fileSlot >= 0) files.remove(this.#fileSlot);
    this.#fileSlot = -1;
    if (this.fd >= 0) ring.setFlags(this.#request(opcode.close, kind.ignored), sqeFlag.skipSuccess, 0);
    this.out.clear();
    this.#poller.freeSlot(this.#slot);
    this.#onClosed(this);
  }

  #receive(): void {
    const { ring, files } = this.#poller;
    const isOnce = this.#closesImmediately && !this.#hasReceived;
    if (this.#hasReceived && this.#fileSlot < 0) this.#fileSlot = files.add(this.fd);
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
      this.received(this.#buffers.chunkOf(id, result, this.#poller.now));
      this.#buffers.giveBack(id);
      if (this.#isReceiving || this.isClosed) return;
      if (this.isReadyToClose) this.closeNow();
      else this.#receive();
    } else if (result === -errno.ENOBUFS) {
      this.#buffers.ranOut();
      this.#receive();
    } else if (result === 0) this.peerEnded();
    else this.fail(-result);
  }

  /** `result`: the poll events, or a negative error number. */
  #connected(result: number): void {
    this.#isConnecting = false;
    if (this.isReset) this.fail(0);
    else if (result === pollEvent.out) {
      this.#receive();
      this.opened();
    } else this.fail(result < 0 ? -result : pendingError(this.fd));
  }

  /** A non-waiting send was partial or failed. */
  #sentPartially(result: number): void {
    if (this.isClosed) return;
    if (result < 0 && result !== -errno.EAGAIN) {
      this.#broken(-result);
      return;
    }
    if (this.out.retract(this.#optimisticBytes - Math.max(0, result))) this.#sendWaiting();
    else this.#broken(errno.ENOBUFS);
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
    if (this.isClosed) return;
    if (result < 0) this.#broken(-result);
    else {
      this.out.advance(result);
      if (this.out.length > 0) this.#sendWaiting();
      else this.#drained();
    }
  }

  #drained(): void {
    this.out.settle();
    if (this.out.isDrained) this.events.onSent?.(this.#poller.now);
    this.continueSending();
  }

  /** The peer has reset the connection. Data received before is still read; the end of reading ends the connection. */
  #broken(error: number): void {
    this.recordError(error);
    this.out.clear();
    if (!this.#isReceiving) this.fail(error);
  }

  #request(operation: number, requestKind: number): number {
    const { ring } = this.#poller;
    const fileSlot = this.#fileSlot;
    const at = ring.request(
      operation,
      fileSlot < 0 ? this.fd : fileSlot,
      this.#poller.tokenOf(this.#slot, requestKind),
    );
    if (fileSlot >= 0) ring.setFlags(at, sqeFlag.fixedFile, 0);
    return at;
  }
}
