import { TimerWheel } from '../bytes/timer-wheel.ts';

/** The timers of one session, each for one purpose. */
export const timerKind = {
  /** Discovery and link control. */
  link: 0,
  ipv4: 1,
  ipv6: 2,
  /** Checks of a session that is up. */
  keepAlive: 3,
  /** End of a session by plan, and the next attempt. */
  life: 4,
  /** Checks of the IPv6 gateway of a session that is up. */
  keepAlive6: 5,
  /** Authentication of the port. */
  port: 6,
} as const;
export type TimerKind = (typeof timerKind)[keyof typeof timerKind];

const kinds = 7;
/** The wheel holds less than 25 days in milliseconds; a later timer fires early and is set again. */
export const maxTimerMs = 2 ** 30;

/** All timers of all sessions of a port, in milliseconds since its start. */
export class SessionTimers {
  readonly #wheel: TimerWheel;
  #nowMs = 0;

  constructor(capacity: number) {
    this.#wheel = new TimerWheel(0, Math.max(capacity * kinds, kinds));
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get count(): number {
    return this.#wheel.count;
  }

  set(session: number, kind: TimerKind, delayMs: number): void {
    this.#wheel.set(session * kinds + kind, this.#nowMs + Math.min(Math.max(Math.ceil(delayMs), 1), maxTimerMs));
  }

  isSet(session: number, kind: TimerKind): boolean {
    return this.#wheel.isSet(session * kinds + kind);
  }

  clear(session: number, kind: TimerKind): void {
    this.#wheel.clear(session * kinds + kind);
  }

  clearAll(session: number): void {
    for (let kind = 0; kind < kinds; kind++) this.#wheel.clear(session * kinds + kind);
  }

  advance(nowMs: number, fire: (session: number, kind: TimerKind) => void): void {
    const tick = Math.floor(nowMs);
    if (tick <= this.#nowMs) return;
    // Timers that fire are set from the present, not from the time they were due.
    this.#nowMs = tick;
    this.#wheel.advance(tick, (id) => fire(Math.floor(id / kinds), (id % kinds) as TimerKind));
  }
}
