import { errno } from '../kernel/errno.ts';
import { nonBlocking, option, shutDownWriting, shutdownWrite, socketType } from '../kernel/socket.ts';
import { SocketConnection } from '../socket-connection.ts';
import type { Route } from '../transport.ts';
import type { KernelAddress } from './address-book.ts';
import type { BufferRing } from './buffer-ring.ts';
import type { FileTable } from './file-table.ts';
import { cqeFlag, opcode, openingOpcode, recvFlag, sqeFlag } from './ring-layout.ts';
import { kind, type Requester, type UringPoller } from './uring-poller.ts';

const messageFlag = { dontWait: 0x40, waitAll: 0x100, noSignal: 0x4000 } as const;

export interface UringConnectionDeps {
  readonly buffers: BufferRing;
  readonly leavesAtOnce: boolean;
  readonly onGone: (connection: UringConnection) => void;
  /** There when the descriptor is a place in this table and not one of the process. */
  readonly files?: FileTable;
}

/** A connection whose reads, writes and end are requests on the ring. */
export class UringConnection extends SocketConnection implements Requester {
  readonly #poller: UringPoller;
  readonly #buffers: BufferRing;
  readonly #slot: number;
  readonly #leavesAtOnce: boolean;
  readonly #onGone: (connection: UringConnection) => void;
  readonly #files: FileTable | undefined;
  #isConnecting = false;
  #isReceiving = false;
  #isShuttingDown = false;
  /** A connection for one answer reads once: then nothing keeps it when it is to leave. */
  #hasReceived = false;
  /** Bytes of a send that did not wait: it reports only what it could not do. */
  #hoped = 0;

  constructor(fd: number, poller: UringPoller, deps: UringConnectionDeps) {
    super(fd, poller);
    this.#poller = poller;
    this.#buffers = deps.buffers;
    this.#onGone = deps.onGone;
    this.#files = deps.files;
    this.#leavesAtOnce = deps.leavesAtOnce;
    this.#slot = poller.takeSlot(this);
  }

  connect(route: Route): void {
    this.#requestConnect(kind.connect, this.#poller.addresses.target(this.#slot, route));
    this.#isConnecting = true;
  }

  /**
   * Opens the socket in its place of the table and connects it. The kernel carries requests out in order as long as
   * none has to wait: chained, each would take a detour of its own.
   */
  open(route: Route, { noDelay }: { readonly noDelay: boolean }): void {
    const { ring, addresses } = this.#poller;
    const { family } = addresses.target(this.#slot, route);
    const source = route.localAddress === undefined ? undefined : addresses.source(this.#slot, route.localAddress);
    const at = ring.request(openingOpcode.socket, family, this.#token(kind.open));
    ring.setOffset(at, socketType.stream | nonBlocking);
    ring.setFile(at, this.fd);
    ring.setFlags(at, sqeFlag.skipSuccess, 0);
    if (noDelay) this.#setOption(option.noDelay);
    if (source === undefined) this.connect(route);
    else this.#bind(source);
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
    else if (requestKind === kind.open) this.#connected(result);
    else if (requestKind === kind.bind) this.#bound(result);
    else if (requestKind === kind.shutdown) this.#hasShutDown();
  }

  protected override drop(): void {
    if (this.#files === undefined) super.drop();
    else this.#requestConnect(kind.quiet, this.#poller.nowhere);
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
      if (this.isGone || this.isSending) return;
      if (this.#files === undefined) shutDownWriting(this.fd);
      else this.#requestShutdown();
    });
  }

  /** The ring lets another thread do it; until it is done the place must not become another connection's. */
  #requestShutdown(): void {
    const at = this.#request(opcode.shutdown, kind.shutdown);
    this.#poller.ring.setBuffer(at, 0, shutdownWrite);
    this.#isShuttingDown = true;
  }

  protected override dispose(): void {
    if (this.#isShuttingDown) return;
    const { ring } = this.#poller;
    const files = this.#files;
    const at = ring.request(opcode.close, files === undefined ? this.fd : 0, this.#token(kind.quiet));
    ring.setFlags(at, sqeFlag.skipSuccess, 0);
    if (files !== undefined) {
      ring.setFile(at, this.fd);
      files.giveBack(this.fd);
    }
    this.out.clear();
    this.#poller.freeSlot(this.#slot);
    this.#onGone(this);
  }

  #hasShutDown(): void {
    this.#isShuttingDown = false;
    if (this.isGone) this.dispose();
  }

  #receive(): void {
    const { ring } = this.#poller;
    const at = this.#request(opcode.recv, kind.recv);
    const isOnce = this.#leavesAtOnce && !this.#hasReceived;
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
    } else if (result === -errno.ENOBUFS) this.#receive();
    else if (result === 0) this.peerEnded();
    else this.fail(-result);
  }

  /** Only now: nothing may leave from another address than the ordered one. */
  #bound(result: number): void {
    if (result < 0 || this.isDropped) this.#connected(result);
    else this.#requestConnect(kind.connect, this.#poller.addresses.targetOf(this.#slot));
  }

  #connected(result: number): void {
    this.#isConnecting = false;
    if (result < 0) {
      this.fail(-result);
      return;
    }
    if (this.isDropped) {
      this.drop();
      this.fail(0);
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

  #bind({ at: address, length }: KernelAddress): void {
    const { ring } = this.#poller;
    this.#setOption(option.bindAddressNoPort);
    const at = this.#request(openingOpcode.bind, kind.bind);
    ring.setBuffer(at, address, 0);
    ring.setOffset(at, length);
  }

  #requestConnect(requestKind: number, { at: address, length }: KernelAddress): void {
    const { ring } = this.#poller;
    const at = this.#request(opcode.connect, requestKind);
    ring.setBuffer(at, address, 0);
    ring.setOffset(at, length);
  }

  /** An option that cannot be set is no reason to fail. */
  #setOption(which: readonly [number, number]): void {
    const { ring, oneAt } = this.#poller;
    const at = this.#request(openingOpcode.command, kind.quiet);
    ring.setSocketOption(at, which, oneAt);
    ring.setFlags(at, sqeFlag.skipSuccess, 0);
  }

  #request(operation: number, requestKind: number): number {
    const { ring } = this.#poller;
    const at = ring.request(operation, this.fd, this.#token(requestKind));
    if (this.#files !== undefined) ring.setFlags(at, sqeFlag.fixedFile, 0);
    return at;
  }

  #token(requestKind: number): number {
    return this.#poller.tokenOf(this.#slot, requestKind);
  }
}
