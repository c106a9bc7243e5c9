import { errnoName } from '../kernel/errno.ts';
import { disconnect } from '../kernel/socket.ts';
import type { Member } from '../loop/indexed-set.ts';
import type { Flushable } from '../loop/pre-wait-tasks.ts';
import type { Unopened } from './connect-batcher.ts';
import { OutQueue } from './out-queue.ts';
import type { Chunk, Connection, ConnectionEvents, Message } from './transport.ts';

/** What a connection needs of the one that waits for the kernel. */
export interface Flusher {
  /** When the events that are being handled were found. */
  readonly now: number;
  /** Calls `flush` once, after the event at hand or some more. */
  flushLater(what: Flushable): void;
}

/**
 * The life of a connection on a socket of our own: written in batches, closed in order, dropped, or ended by the peer.
 * How bytes and events travel is left to those who extend it.
 */
export abstract class SocketConnection implements Connection, Member, Unopened {
  /** -1 before the socket is open. */
  protected fd = -1;
  place = -1;
  protected readonly out = new OutQueue();
  protected isOpen = false;
  /** A send that waits for room is under way. */
  protected isSending = false;
  /** The peer sends nothing more, or the connection has failed. */
  protected hasEnded = false;
  isGone = false;
  isFlushBooked = false;
  events!: ConnectionEvents;
  readonly #flusher: Flusher;
  #isClosing = false;
  #hasShutDown = false;
  #isReset = false;
  #code: string | undefined;

  constructor(flusher: Flusher) {
    this.#flusher = flusher;
  }

  abstract onConnecting(fd: number): void;
  /** In place of all steps to a connection: it stands already. */
  abstract onAccepted(fd: number): void;
  /** Sends the loaded piece. Sets `isSending` when it must wait for room. */
  protected abstract transmit(): void;
  /** Says goodbye after what was transmitted. */
  protected abstract shutDown(): void;
  /** Lets go of the descriptor, if there is one. */
  protected abstract dispose(): void;
  /** Drops the connection as if it had never been. */
  protected drop(): void {
    disconnect(this.fd);
  }
  /** It was dropped, and all that still comes is to be overlooked. */
  protected get isDropped(): boolean {
    return this.#isReset;
  }
  /** True while the kernel still knows of something that will end in an event. */
  protected abstract get isAwaited(): boolean;

  /** True when the descriptor can be let go without waiting for the peer. */
  protected abstract get mayLeave(): boolean;

  /** All is said and nothing more is wanted. */
  protected get isLeaving(): boolean {
    return this.#isClosing && this.mayLeave && !this.isSending && this.out.length === 0 && this.out.isDrained;
  }

  protected leave(): void {
    this.#finish();
  }

  write(message: Message): void {
    this.out.push(message);
    this.#book();
  }

  writeCopy(bytes: Uint8Array): void {
    this.write({ bytes: Uint8Array.from(bytes), address: 0 });
  }

  close(): void {
    this.#isClosing = true;
    this.#book();
  }

  reset(): void {
    if (this.isGone || this.#isReset) return;
    this.#isReset = true;
    if (this.fd >= 0) this.drop();
    if (!this.isAwaited) this.fail(0);
  }

  /** There is no socket for it. */
  onRefused(error: number): void {
    this.fail(error);
  }

  flush(): void {
    this.isFlushBooked = false;
    if (this.isGone || this.isSending || !this.isOpen) return;
    const hasPiece = this.out.load();
    const isLast = this.#isClosing && !this.#hasShutDown && this.out.isDrained;
    if (hasPiece) this.transmit();
    if (this.isSending) return;
    if (!this.out.isDrained) this.#book();
    else if (isLast && (this.hasEnded || (this.mayLeave && !hasPiece))) this.#finish();
    else if (isLast) {
      this.#hasShutDown = true;
      this.shutDown();
    } else if (hasPiece) this.events.onSent?.(this.#flusher.now);
  }

  /** A send that waited has ended, or one that could not has left a rest. */
  protected goOn(): void {
    if (this.isGone) return;
    this.#hasShutDown = false;
    this.#book();
  }

  protected opened(): void {
    this.isOpen = true;
    this.events.onOpen(this.#flusher.now);
    if (!this.out.isDrained || this.#isClosing) this.#book();
  }

  protected arrived(chunk: Chunk): void {
    if (!this.#isReset) this.events.onData(chunk);
  }

  protected peerEnded(): void {
    this.hasEnded = true;
    if (this.#isReset || this.#hasShutDown) this.#finish();
    else if (this.events.onEnd === undefined) this.close();
    else this.events.onEnd();
  }

  /** The connection is no more. 0: without an error. */
  protected fail(error: number): void {
    this.hasEnded = true;
    if (error !== 0) this.noteError(error);
    this.#finish();
  }

  protected noteError(error: number): void {
    this.#code ??= errnoName(error);
  }

  #book(): void {
    if (this.isFlushBooked || this.isGone) return;
    this.isFlushBooked = true;
    this.#flusher.flushLater(this);
  }

  #finish(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.dispose();
    this.events.onClose(this.#isReset ? undefined : this.#code, this.#flusher.now);
  }
}
