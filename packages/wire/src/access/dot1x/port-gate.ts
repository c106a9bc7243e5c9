import type { SessionCause } from '../causes.ts';
import type { AccessProtocol, Subscribers } from '../subscribers.ts';
import { type TimerKind, timerKind } from '../timers.ts';
import type { Supplicants } from './supplicants.ts';

/** Sessions are let in by 802.1X before their own protocol starts, or have no other one. */
export class PortGate implements AccessProtocol {
  readonly #subscribers: Subscribers;
  readonly #inner: AccessProtocol | undefined;
  readonly #hasStarted: Uint8Array;
  /** Set before the first session starts. */
  supplicants: Supplicants | undefined;

  constructor(subscribers: Subscribers, inner: AccessProtocol | undefined) {
    this.#subscribers = subscribers;
    this.#inner = inner;
    this.#hasStarted = new Uint8Array(subscribers.table.count);
  }

  start(session: number): void {
    this.#hasStarted[session] = 0;
    this.supplicants?.start(session);
  }

  stop(session: number): void {
    const hasStarted = this.#hasStarted[session] === 1;
    // The last frame of the protocol inside goes before the EAPOL-Logoff.
    if (hasStarted) this.#inner?.stop(session);
    this.supplicants?.stop(session);
    if (!hasStarted || this.#inner === undefined) this.#subscribers.onDown(session, 'stopped');
  }

  drop(session: number): void {
    this.supplicants?.drop(session);
    if (this.#hasStarted[session] === 1) this.#inner?.drop(session);
  }

  onTimer(session: number, kind: TimerKind): void {
    if (kind === timerKind.port) this.supplicants?.onTimer(session);
    else this.#inner?.onTimer(session, kind);
  }

  onOpen(session: number): void {
    if (this.#hasStarted[session] === 1) return;
    this.#hasStarted[session] = 1;
    if (this.#inner === undefined) this.#subscribers.onUp(session);
    else this.#inner.start(session);
  }

  onLost(session: number, cause: SessionCause): void {
    if (this.#hasStarted[session] === 1) this.#inner?.drop(session);
    this.#subscribers.onDown(session, cause);
  }
}
