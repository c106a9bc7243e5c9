import { connect, type Socket } from 'node:net';
import type { TcpClientConfig } from '@rushhour/protocol';
import { codeOf } from '../../net/error-kind.ts';
import type { Route } from '../../net/transport.ts';
import type { TcpMeters } from './meters.ts';

export interface SessionPlan {
  readonly config: TcpClientConfig;
  readonly payload: Buffer;
  readonly meters: TcpMeters;
  readonly route: Route;
  readonly intended: number;
}

export interface SessionOwner {
  /** The connection can take a message. */
  onReady(session: TcpSession): void;
  onOpen(session: TcpSession): void;
  onEnd(session: TcpSession, hasFailed: boolean): void;
}

/** One TCP connection from SYN to its end. */
export class TcpSession {
  readonly place: number;
  readonly #plan: SessionPlan;
  readonly #owner: SessionOwner;
  readonly #socket: Socket;
  readonly #connectAt = performance.now();
  #isOpen = false;
  #isLeaving = false;
  #failure: string | undefined;
  #awaited = 0;
  #sentAt = 0;

  constructor(place: number, plan: SessionPlan, owner: SessionOwner) {
    const { config, route, meters } = plan;
    this.place = place;
    this.#plan = plan;
    this.#owner = owner;
    meters.attempted.add(1);
    const { address, ...rest } = route;
    this.#socket = connect({
      host: address,
      ...rest,
      noDelay: config.noDelay,
      keepAlive: config.keepAliveSec > 0,
      keepAliveInitialDelay: config.keepAliveSec * 1000,
    });
    this.#socket.on('connect', () => this.#onOpen());
    this.#socket.on('data', (bytes) => this.#onData(bytes));
    this.#socket.on('error', (error) => {
      this.#failure ??= codeOf(error);
    });
    this.#socket.on('close', () => this.#onClose());
  }

  /** Sends one payload; ready again when the system has taken it, or in mode echo when all of it has come back. */
  send(now: number): void {
    const { payload, config, meters } = this.#plan;
    this.#sentAt = now;
    this.#awaited = payload.length;
    meters.messages.add(1);
    this.#socket.write(payload, (error) => {
      if (error) return;
      meters.txBytes.add(payload.length);
      if (config.mode === 'send') this.#owner.onReady(this);
    });
  }

  sweep(now: number): void {
    if (this.#isOpen || now - this.#connectAt <= this.#plan.config.connectTimeoutMs) return;
    this.#failure ??= 'timeout';
    this.#socket.destroy();
  }

  leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    if (!this.#isOpen) return;
    if (this.#plan.config.closeMode === 'rst') this.#socket.resetAndDestroy();
    else this.#socket.end();
  }

  abandon(): void {
    this.#isLeaving = true;
    this.#socket.destroy();
  }

  #onOpen(): void {
    const now = performance.now();
    const { meters, intended } = this.#plan;
    this.#isOpen = true;
    meters.established.add(1);
    meters.active.add(1);
    meters.connect.record((now - this.#connectAt) * 1000);
    meters.latency.record((now - intended) * 1000);
    const wasLeaving = this.#isLeaving;
    this.#isLeaving = false;
    if (wasLeaving) this.leave();
    else this.#owner.onOpen(this);
  }

  #onData(bytes: Buffer): void {
    const { meters, config } = this.#plan;
    meters.rxBytes.add(bytes.length);
    if (config.mode !== 'echo') return;
    this.#awaited -= bytes.length;
    if (this.#awaited > 0) return;
    meters.echo.record((performance.now() - this.#sentAt) * 1000);
    this.#owner.onReady(this);
  }

  #onClose(): void {
    const { meters } = this.#plan;
    if (this.#isOpen) {
      meters.active.add(-1);
      meters.closed.add(1);
    } else meters.failed.add(this.#isLeaving ? 0 : 1);
    // A peer that resets a connection we are closing has failed nobody.
    if (this.#failure !== undefined && !this.#isLeaving) meters.error(this.#failure);
    this.#owner.onEnd(this, this.#failure !== undefined && !this.#isLeaving);
  }
}
