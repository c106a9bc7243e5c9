import { errno } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import type { Memory } from '../kernel/memory.ts';
import { closeSocket, pendingError, shutDownWriting } from '../kernel/socket.ts';
import { SocketConnection } from '../transport/socket-connection.ts';
import { type EpollPoller, epollEvent, type Watcher } from './epoll-poller.ts';

const messageFlag = { dontWait: 0x40, noSignal: 0x4000 } as const;
// Limits the reads so that other connections are served however fast one peer sends.
const readsPerIteration = 16;

export interface EpollConnectionDeps {
  /** Shared read buffer; its content is valid until the next read of any connection. */
  readonly buffer: Memory;
  readonly closesImmediately: boolean;
  readonly onClosed: (connection: EpollConnection) => void;
}

/** A connection on an epoll-driven socket. */
export class EpollConnection extends SocketConnection implements Watcher {
  readonly #poller: EpollPoller;
  readonly #deps: EpollConnectionDeps;
  readonly #libc = requireLibc();
  readonly #bufferAt: number;
  readonly #chunk: { readonly bytes: Buffer; readonly start: number; end: number; now: number; address: number };
  #isConnecting = false;

  constructor(poller: EpollPoller, deps: EpollConnectionDeps) {
    super(poller);
    this.#poller = poller;
    this.#deps = deps;
    this.#bufferAt = deps.buffer.addressOf(0, deps.buffer.length);
    this.#chunk = { bytes: deps.buffer.bytes, start: 0, end: 0, now: 0, address: this.#bufferAt };
  }

  onConnecting(fd: number): void {
    this.#isConnecting = true;
    this.#watch(fd);
  }

  onAccepted(fd: number): void {
    this.isOpen = true;
    this.#watch(fd);
  }

  ready(events: number): void {
    const { in: readable, out, error, hangUp, readHangUp } = epollEvent;
    if (this.#isConnecting && (events & (out | error | hangUp)) !== 0) {
      this.#isConnecting = false;
      const failure = pendingError(this.fd);
      if (failure !== 0) this.fail(failure);
      else this.opened();
    }
    if (!this.isClosed && this.isSending && (events & (out | error | hangUp)) !== 0) {
      this.isSending = false;
      this.continueSending();
    }
    if (!this.isClosed && !this.#isConnecting && (events & (readable | error | hangUp | readHangUp)) !== 0)
      this.#read(events);
  }

  protected override get hasPendingEvents(): boolean {
    return false;
  }

  protected override get canCloseImmediately(): boolean {
    return this.#deps.closesImmediately;
  }

  protected override transmit(): void {
    const { out } = this;
    while (out.length > 0) {
      const sent = this.#libc.send(this.fd, out.address, out.length, messageFlag.dontWait | messageFlag.noSignal);
      if (sent >= 0) {
        out.advance(sent);
        continue;
      }
      const error = this.#libc.errno();
      if (error !== errno.EAGAIN) {
        // Data the peer has sent is still read; the end of reading ends the connection.
        this.recordError(error);
        out.clear();
      } else this.isSending = true;
      return;
    }
    out.settle();
  }

  protected override shutDown(): void {
    shutDownWriting(this.fd);
  }

  protected override dispose(): void {
    if (this.fd >= 0) {
      this.#poller.forget(this.fd);
      closeSocket(this.fd);
    }
    this.out.clear();
    this.#deps.onClosed(this);
  }

  #watch(fd: number): void {
    this.fd = fd;
    const { in: readable, out, readHangUp, edge } = epollEvent;
    this.#poller.add(fd, readable | out | readHangUp | edge, this);
  }

  /** Reads until the socket is drained: edge-triggered events are reported only once. */
  #read(events: number): void {
    const mayHaveEnded = (events & (epollEvent.readHangUp | epollEvent.hangUp | epollEvent.error)) !== 0;
    const { length } = this.#deps.buffer;
    for (let reads = 0; reads < readsPerIteration; reads++) {
      const count = this.#libc.recv(this.fd, this.#bufferAt, length, messageFlag.dontWait);
      if (count > 0) {
        this.#chunk.end = count;
        this.#chunk.now = this.#poller.now;
        this.received(this.#chunk);
        if (this.isClosed || (count < length && !mayHaveEnded)) return;
      } else if (count === 0) {
        this.peerEnded();
        return;
      } else {
        const error = this.#libc.errno();
        if (error !== errno.EAGAIN) this.fail(error);
        return;
      }
    }
    this.#poller.defer(() => {
      if (!this.isClosed) this.#read(events);
    });
  }
}
