import { errno } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import type { Memory } from '../kernel/memory.ts';
import { closeSocket, pendingError, shutDownWriting } from '../kernel/socket.ts';
import { SocketConnection } from '../transport/socket-connection.ts';
import { type EpollPoller, epollEvent, type Watcher } from './epoll-poller.ts';

const messageFlag = { dontWait: 0x40, noSignal: 0x4000 } as const;
// Others must get their turn however fast one peer sends.
const readsPerTurn = 16;

export interface EpollConnectionDeps {
  /** What is read lies here until the next read, of whichever connection. */
  readonly buffer: Memory;
  readonly leavesAtOnce: boolean;
  readonly onGone: (connection: EpollConnection) => void;
}

/** A connection that reads and writes when epoll says it can. */
export class EpollConnection extends SocketConnection implements Watcher {
  readonly #poller: EpollPoller;
  readonly #deps: EpollConnectionDeps;
  readonly #libc = requireLibc();
  readonly #bufferAt: number;
  readonly #chunk: { readonly bytes: Buffer; readonly start: number; end: number; now: number };
  #isConnecting = false;

  constructor(poller: EpollPoller, deps: EpollConnectionDeps) {
    super(poller);
    this.#poller = poller;
    this.#deps = deps;
    this.#bufferAt = deps.buffer.addressOf(0, deps.buffer.length);
    this.#chunk = { bytes: deps.buffer.bytes, start: 0, end: 0, now: 0 };
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
    if (!this.isGone && this.isSending && (events & (out | error | hangUp)) !== 0) {
      this.isSending = false;
      this.goOn();
    }
    if (!this.isGone && !this.#isConnecting && (events & (readable | error | hangUp | readHangUp)) !== 0)
      this.#read(events);
  }

  protected override get isAwaited(): boolean {
    return false;
  }

  protected override get mayLeave(): boolean {
    return this.#deps.leavesAtOnce;
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
        // What the peer has sent before is still read; the end of reading ends the connection.
        this.noteError(error);
        out.clear();
      } else this.isSending = true;
      return;
    }
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
    this.#deps.onGone(this);
  }

  #watch(fd: number): void {
    this.fd = fd;
    const { in: readable, out, readHangUp, edge } = epollEvent;
    this.#poller.add(fd, readable | out | readHangUp | edge, this);
  }

  /** Reads until nothing is left: the edge comes only once. */
  #read(events: number): void {
    const mayHaveEnded = (events & (epollEvent.readHangUp | epollEvent.hangUp | epollEvent.error)) !== 0;
    const { length } = this.#deps.buffer;
    for (let reads = 0; reads < readsPerTurn; reads++) {
      const count = this.#libc.recv(this.fd, this.#bufferAt, length, messageFlag.dontWait);
      if (count > 0) {
        this.#chunk.end = count;
        this.#chunk.now = this.#poller.now;
        this.arrived(this.#chunk);
        if (this.isGone || (count < length && !mayHaveEnded)) return;
      } else if (count === 0) {
        this.peerEnded();
        return;
      } else {
        const error = this.#libc.errno();
        if (error !== errno.EAGAIN) this.fail(error);
        return;
      }
    }
    this.#poller.soon(() => {
      if (!this.isGone) this.#read(events);
    });
  }
}
