import type { Connection, ConnectionEvents, HandshakeFacts, Route, Transport } from '../../net/transport/transport.ts';

interface HandshakePlan {
  /** Wait for a ticket after the handshake, so that the next one can be resumed. */
  readonly wantsTicket: boolean;
  readonly closeNotify: boolean;
}

interface HandshakeEvents {
  onConnect(now: number): void;
  onSecure(facts: HandshakeFacts, now: number): void;
  onTicket(): void;
  /** Called exactly once, last. */
  onEnd(code: string | undefined): void;
}

// Maximum wait for a session ticket after the handshake.
const ticketWaitMs = 200;

/** One TLS handshake followed by a close. */
export class Handshake implements ConnectionEvents {
  readonly startedAt = performance.now();
  readonly #plan: HandshakePlan;
  readonly #events: HandshakeEvents;
  #connection: Connection | undefined;
  #failure: string | undefined;
  #ticketTimer: NodeJS.Timeout | undefined;
  #hasTicket = false;
  isSecure = false;

  constructor(plan: HandshakePlan, events: HandshakeEvents) {
    this.#plan = plan;
    this.#events = events;
  }

  start(transport: Transport, route: Route): void {
    this.#connection = transport.connect(route, this);
  }

  onConnect(): void {
    this.#events.onConnect(performance.now());
  }

  onOpen(now: number): void {
    this.isSecure = true;
    this.#events.onSecure((this.#connection as Required<Connection>).handshake(), now);
    if (!this.#plan.wantsTicket || this.#hasTicket) this.#leave();
    else this.#ticketTimer = setTimeout(() => this.#leave(), ticketWaitMs);
  }

  onTicket(): void {
    this.#hasTicket = true;
    this.#events.onTicket();
    if (this.isSecure) this.#leave();
  }

  onData(): void {}

  onClose(code: string | undefined): void {
    clearTimeout(this.#ticketTimer);
    this.#events.onEnd(this.isSecure ? undefined : (this.#failure ?? code ?? 'closed'));
  }

  timeOut(): void {
    this.#failure ??= 'timeout';
    this.#connection?.reset();
  }

  #leave(): void {
    clearTimeout(this.#ticketTimer);
    if (this.#plan.closeNotify) this.#connection?.close();
    else this.#connection?.reset();
  }
}
