import type { TcpClientConfig } from '@rushhour/protocol';
import type { Chunk, Connection, ConnectionEvents, Message, Route, Transport } from '../../net/transport/transport.ts';
import type { TcpMeters } from './meters.ts';

/** What the sessions to one target share. */
export interface SessionPlan {
  readonly config: TcpClientConfig;
  readonly transport: Transport;
  /** Sessions take turns at the messages. */
  readonly nextMessage: () => Message;
  /** Messages of the session instead; undefined after the last one. */
  readonly drawMessage: ((slot: number) => Buffer | undefined) | undefined;
  readonly meters: TcpMeters;
  readonly owner: SessionOwner;
}

export interface SessionOwner {
  /** The connection accepts a message. */
  onReady(session: TcpSession, now: number): void;
  onOpen(session: TcpSession, now: number): void;
  onEnd(session: TcpSession, hasFailed: boolean): void;
}

const maxInteger = 0x7fffffff;

/** Microseconds modulo 2^32: small integers lie in the session itself, other numbers take twenty-four bytes each. */
const microseconds = (ms: number): number => (ms * 1000) | 0;

/** One TCP connection from SYN to close. There may be a million of them. */
export class TcpSession implements ConnectionEvents {
  readonly slot: number;
  /** Mode send only: triggers the next message. */
  readonly onSent?: (now: number) => void;
  readonly #plan: SessionPlan;
  readonly #connection: Connection;
  #isOpen = false;
  #isLeaving = false;
  #failure: string | undefined;
  /** Bytes of the message that is being sent; in mode echo, those that have not come back. */
  #bytes = 0;
  /** How late it was begun, in microseconds. */
  readonly #lateUs: number;
  /** When it was begun; once it is open, when the last message was sent. */
  #beganUs: number;

  constructor(slot: number, plan: SessionPlan, begin: { route: Route; intended: number }) {
    const now = performance.now();
    this.slot = slot;
    this.#plan = plan;
    this.#lateUs = Math.min(Math.round((now - begin.intended) * 1000), maxInteger);
    this.#beganUs = microseconds(now);
    plan.meters.attempted.add(1);
    if (plan.config.mode === 'send') this.onSent = (now) => this.#onSent(now);
    this.#connection = plan.transport.connect(begin.route, this);
  }

  /** Sends one message. Ready again when the kernel has taken it; in mode echo, when it has been echoed. */
  send(now: number): void {
    const { nextMessage, drawMessage } = this.#plan;
    if (drawMessage === undefined) {
      const message = nextMessage();
      this.#begin(message.bytes.length, now);
      this.#connection.write(message);
      return;
    }
    const bytes = drawMessage(this.slot);
    if (bytes === undefined) this.leave();
    else {
      this.#begin(bytes.length, now);
      this.#connection.writeCopy(bytes);
    }
  }

  sweep(now: number): void {
    if (this.#isOpen || this.#usSince(now) <= this.#plan.config.connectTimeoutMs * 1000) return;
    if (this.#failure !== undefined) return;
    this.#failure = 'timeout';
    const { meters } = this.#plan;
    // Connections that time out count with the time they waited.
    meters.connect.record(this.#usSince(now));
    meters.latency.record(this.#usSince(now) + this.#lateUs);
    this.#connection.reset();
  }

  leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    if (!this.#isOpen) return;
    if (this.#plan.config.closeMode === 'rst') this.#connection.reset();
    else this.#connection.close();
  }

  abandon(): void {
    this.#isLeaving = true;
    this.#connection.reset();
  }

  onOpen(now: number): void {
    const { meters } = this.#plan;
    this.#isOpen = true;
    meters.established.add(1);
    meters.active.add(1);
    meters.connect.record(this.#usSince(now));
    meters.latency.record(this.#usSince(now) + this.#lateUs);
    const wasLeaving = this.#isLeaving;
    this.#isLeaving = false;
    if (wasLeaving) this.leave();
    else this.#plan.owner.onOpen(this, now);
  }

  onData({ start, end, now }: Chunk): void {
    const { meters, config } = this.#plan;
    meters.rxBytes.add(end - start);
    if (config.mode !== 'echo') return;
    this.#bytes -= end - start;
    if (this.#bytes > 0) return;
    meters.echo.record(this.#usSince(now));
    this.#plan.owner.onReady(this, now);
  }

  onClose(code: string | undefined): void {
    const { meters } = this.#plan;
    const failure = this.#failure ?? code;
    // A reset by the peer during our close is not a failure; a connection that times out meanwhile is.
    const isCancelled = this.#isLeaving && this.#failure === undefined;
    if (this.#isOpen) {
      meters.active.add(-1);
      meters.closed.add(1);
    } else meters.failed.add(isCancelled ? 0 : 1);
    const hasFailed = failure !== undefined && !isCancelled;
    if (hasFailed) meters.error(failure);
    this.#plan.owner.onEnd(this, hasFailed);
  }

  #usSince(now: number): number {
    return (microseconds(now) - this.#beganUs) | 0;
  }

  #begin(bytes: number, now: number): void {
    const { config, meters } = this.#plan;
    this.#beganUs = microseconds(now);
    this.#bytes = bytes;
    meters.messages.add(1);
    if (config.mode === 'echo') meters.txBytes.add(bytes);
  }

  #onSent(now: number): void {
    const { meters } = this.#plan;
    meters.txBytes.add(this.#bytes);
    if (!this.#isLeaving) this.#plan.owner.onReady(this, now);
  }
}
