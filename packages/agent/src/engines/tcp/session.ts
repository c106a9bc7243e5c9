import type { TcpClientConfig } from '@rushhour/protocol';
import type { Chunk, Connection, ConnectionEvents, Message, Route, Transport } from '../../net/transport/transport.ts';
import type { TcpMeters } from './meters.ts';

export interface SessionPlan {
  readonly config: TcpClientConfig;
  readonly transport: Transport;
  /** Sessions take turns at the messages. */
  readonly nextMessage: () => Message;
  /** Messages of the session instead; undefined after the last one. */
  readonly drawMessage: ((slot: number) => Buffer | undefined) | undefined;
  readonly meters: TcpMeters;
  readonly route: Route;
  readonly intended: number;
}

export interface SessionOwner {
  /** The connection accepts a message. */
  onReady(session: TcpSession, now: number): void;
  onOpen(session: TcpSession, now: number): void;
  onEnd(session: TcpSession, hasFailed: boolean): void;
}

/** One TCP connection from SYN to close. */
export class TcpSession implements ConnectionEvents {
  readonly slot: number;
  /** Mode send only: triggers the next message. */
  readonly onSent?: (now: number) => void;
  readonly #plan: SessionPlan;
  readonly #owner: SessionOwner;
  readonly #connection: Connection;
  readonly #connectAt = performance.now();
  #isOpen = false;
  #isLeaving = false;
  #failure: string | undefined;
  #messageBytes = 0;
  #awaited = 0;
  #sentAt = 0;

  constructor(slot: number, plan: SessionPlan, owner: SessionOwner) {
    this.slot = slot;
    this.#plan = plan;
    this.#owner = owner;
    plan.meters.attempted.add(1);
    if (plan.config.mode === 'send') this.onSent = (now) => this.#onSent(now);
    this.#connection = plan.transport.connect(plan.route, this);
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
    if (this.#isOpen || now - this.#connectAt <= this.#plan.config.connectTimeoutMs) return;
    if (this.#failure !== undefined) return;
    this.#failure = 'timeout';
    const { meters, intended } = this.#plan;
    // Connections that time out count with the time they waited.
    meters.connect.record((now - this.#connectAt) * 1000);
    meters.latency.record((now - intended) * 1000);
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
    const { meters, intended } = this.#plan;
    this.#isOpen = true;
    meters.established.add(1);
    meters.active.add(1);
    meters.connect.record((now - this.#connectAt) * 1000);
    meters.latency.record((now - intended) * 1000);
    const wasLeaving = this.#isLeaving;
    this.#isLeaving = false;
    if (wasLeaving) this.leave();
    else this.#owner.onOpen(this, now);
  }

  onData({ start, end, now }: Chunk): void {
    const { meters, config } = this.#plan;
    meters.rxBytes.add(end - start);
    if (config.mode !== 'echo') return;
    this.#awaited -= end - start;
    if (this.#awaited > 0) return;
    meters.echo.record((now - this.#sentAt) * 1000);
    this.#owner.onReady(this, now);
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
    this.#owner.onEnd(this, hasFailed);
  }

  #begin(bytes: number, now: number): void {
    const { config, meters } = this.#plan;
    this.#sentAt = now;
    this.#messageBytes = bytes;
    this.#awaited = bytes;
    meters.messages.add(1);
    if (config.mode === 'echo') meters.txBytes.add(bytes);
  }

  #onSent(now: number): void {
    const { meters } = this.#plan;
    meters.txBytes.add(this.#messageBytes);
    if (!this.#isLeaving) this.#owner.onReady(this, now);
  }
}
