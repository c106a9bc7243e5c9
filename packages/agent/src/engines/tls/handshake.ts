import type { Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { errorCodeOf } from '../../net/metrics/count-error.ts';
import { dialSocket } from '../../net/transport/dial-socket.ts';
import type { Route } from '../../net/transport/transport.ts';

export interface HandshakePlan {
  readonly route: Route;
  readonly options: ConnectionOptions;
  /** Wait for a ticket after the handshake, so that the next one can be resumed. */
  readonly wantsTicket: boolean;
  readonly closeNotify: boolean;
}

export interface HandshakeEvents {
  onConnect(now: number): void;
  onSecure(socket: TLSSocket, now: number): void;
  onTicket(session: Buffer): void;
  /** Called exactly once, last. */
  onEnd(code: string | undefined): void;
}

// Maximum wait for a session ticket after the handshake.
const ticketWaitMs = 200;

/** One TLS handshake followed by a close. */
export class Handshake {
  readonly startedAt = performance.now();
  readonly #plan: HandshakePlan;
  readonly #tcp: Socket;
  readonly #socket: TLSSocket;
  #failure: string | undefined;
  #ticketTimer: NodeJS.Timeout | undefined;
  isSecure = false;

  constructor(plan: HandshakePlan, events: HandshakeEvents) {
    this.#plan = plan;
    this.#tcp = dialSocket(plan.route);
    this.#tcp.on('connect', () => events.onConnect(performance.now()));
    this.#socket = connectTls({ ...plan.options, socket: this.#tcp });
    this.#socket.on('secureConnect', () => {
      this.isSecure = true;
      events.onSecure(this.#socket, performance.now());
      if (!plan.wantsTicket) this.#leave();
      else this.#ticketTimer = setTimeout(() => this.#leave(), ticketWaitMs);
    });
    this.#socket.on('session', (session: Buffer) => {
      events.onTicket(session);
      if (this.isSecure) this.#leave();
    });
    this.#socket.on('error', (error) => {
      this.#failure ??= alertOf(error);
    });
    this.#socket.resume();
    this.#socket.on('close', () => {
      clearTimeout(this.#ticketTimer);
      events.onEnd(this.isSecure ? undefined : (this.#failure ?? 'closed'));
    });
  }

  timeOut(): void {
    this.#failure ??= 'timeout';
    this.#socket.destroy();
  }

  #leave(): void {
    clearTimeout(this.#ticketTimer);
    if (this.#plan.closeNotify) this.#socket.end();
    else this.#tcp.resetAndDestroy();
  }
}

/** The TLS alert that ended the handshake, as named by OpenSSL, or the error code of the socket. */
const alertOf = (error: Error): string => {
  const alert = /(?:tlsv1|tlsv13|sslv3|ssl\/tls) alert ([a-z ]+)/i.exec(error.message)?.[1];
  return alert === undefined
    ? errorCodeOf(error)
    : `alert.${alert.trim().replace(/ (\w)/g, (_, letter) => letter.toUpperCase())}`;
};
