import { errnoName } from '../kernel/errno.ts';
import { disconnect, retransmitsOf } from '../kernel/socket.ts';
import type { IndexedMember } from '../loop/indexed-set.ts';
import type { Flushable } from '../loop/pre-wait-tasks.ts';
import type { ConnectHandler } from './connect-batcher.ts';
import { SendQueue } from './send-queue.ts';
import type { Chunk, Connection, ConnectionEvents, Message } from './transport.ts';

/** The part of a poller that connections use. */
export interface FlushScheduler {
  /** When the events being dispatched were read, on the `performance.now` clock. */
  readonly now: number;
  /** Calls `flush` once, after the current event or a few more. */
  scheduleFlush(target: Flushable): void;
}

/**
 * The state machine of a connection on a raw socket: batched writes, orderly close, reset, close by the peer.
 * Subclasses implement I/O on io_uring or epoll.
 */
export abstract class SocketConnection implements Connection, IndexedMember, ConnectHandler {
  /** -1 until the socket is open. */
  protected fd = -1;
  setIndex = -1;
  protected readonly out = new SendQueue();
  protected isOpen = false;
  /** A send that waits for buffer space is in progress. */
  protected isSending = false;
  /** The peer has sent its FIN, or the connection has failed. */
  protected hasEnded = false;
  isClosed = false;
  isFlushScheduled = false;
  events!: ConnectionEvents;
  /** Called with the number of segments sent again since the last call. */
  onRetransmits: ((count: number) => void) | undefined;
  #retransmits = 0;
  readonly #scheduler: FlushScheduler;
  #isClosing = false;
  #hasShutDown = false;
  #isReset = false;
  #code: string | undefined;

  constructor(scheduler: FlushScheduler) {
    this.#scheduler = scheduler;
  }

  abstract onConnecting(fd: number): void;
  /** Instead of `onConnecting`: the socket is already connected. */
  abstract onAccepted(fd: number): void;
  /** Sends the loaded chunk. Sets `isSending` if it has to wait for buffer space. */
  protected abstract transmit(): void;
  /** Sends a FIN after target was transmitted. */
  protected abstract shutDown(): void;
  /** Closes the descriptor, if there is one. */
  protected abstract dispose(): void;
  /** Aborts the connection with a reset. */
  protected sendReset(): void {
    disconnect(this.fd);
  }
  /** The connection was reset; later events are ignored. */
  protected get isReset(): boolean {
    return this.#isReset;
  }
  /** True while requests to the kernel are pending that will end in an event. */
  protected abstract get hasPendingEvents(): boolean;

  /** True if the descriptor can be closed without waiting for the peer. */
  protected abstract get canCloseImmediately(): boolean;

  /** All data is sent and nothing more is expected. */
  protected get isReadyToClose(): boolean {
    return (
      this.#isClosing && this.canCloseImmediately && !this.isSending && this.out.length === 0 && this.out.isDrained
    );
  }

  protected closeNow(): void {
    this.#finish();
  }

  write(message: Message): void {
    this.out.push(message);
    this.#scheduleFlush();
  }

  writeCopy(bytes: Uint8Array): void {
    if (!this.out.append(bytes)) this.out.push({ bytes: new Uint8Array(bytes), address: 0 });
    this.#scheduleFlush();
  }

  close(): void {
    this.#isClosing = true;
    this.#scheduleFlush();
  }

  reset(): void {
    if (this.isClosed || this.#isReset) return;
    this.#isReset = true;
    this.readRetransmits();
    if (this.fd >= 0) this.sendReset();
    if (!this.hasPendingEvents) this.fail(0);
  }

  readRetransmits(): void {
    if (this.onRetransmits === undefined || this.fd < 0 || this.isClosed) return;
    const count = retransmitsOf(this.fd);
    if (count <= this.#retransmits) return;
    this.onRetransmits(count - this.#retransmits);
    this.#retransmits = count;
  }

  /** Opening or connecting the socket failed. */
  onConnectFailed(error: number): void {
    this.fail(error);
  }

  flush(): void {
    this.isFlushScheduled = false;
    if (this.isClosed || this.isSending || !this.isOpen) return;
    const hasChunk = this.out.load();
    const isLast = this.#isClosing && !this.#hasShutDown && this.out.isDrained;
    if (hasChunk) this.transmit();
    if (this.isSending) return;
    if (!this.out.isDrained) this.#scheduleFlush();
    else if (isLast && (this.hasEnded || (this.canCloseImmediately && !hasChunk))) this.#finish();
    else if (isLast) {
      this.#hasShutDown = true;
      this.shutDown();
    } else if (hasChunk) this.events.onSent?.(this.#scheduler.now);
  }

  /** A waiting send has finished, or a non-waiting one was partial. */
  protected continueSending(): void {
    if (this.isClosed) return;
    this.#hasShutDown = false;
    this.#scheduleFlush();
  }

  protected opened(): void {
    this.isOpen = true;
    this.events.onOpen(this.#scheduler.now);
    if (this.out.length > 0 || !this.out.isDrained || this.#isClosing) this.#scheduleFlush();
  }

  protected received(chunk: Chunk): void {
    if (!this.#isReset) this.events.onData(chunk);
  }

  protected peerEnded(): void {
    this.hasEnded = true;
    if (this.#isReset || this.#hasShutDown) this.#finish();
    else if (this.events.onEnd === undefined) this.close();
    else this.events.onEnd();
  }

  /** Ends the connection; 0 means without an error. */
  protected fail(error: number): void {
    this.hasEnded = true;
    if (error !== 0) this.recordError(error);
    this.#finish();
  }

  protected recordError(error: number): void {
    this.#code ??= errnoName(error);
  }

  #scheduleFlush(): void {
    if (this.isFlushScheduled || this.isClosed) return;
    this.isFlushScheduled = true;
    this.#scheduler.scheduleFlush(this);
  }

  #finish(): void {
    if (this.isClosed) return;
    this.readRetransmits();
    this.isClosed = true;
    this.dispose();
    this.events.onClose(this.#isReset ? undefined : this.#code, this.#scheduler.now);
  }
}
