import type { SessionCause } from './causes.ts';
import { type SessionStep, SessionTable, sessionState } from './session-table.ts';
import { SessionTimers, type TimerKind, timerKind } from './timers.ts';

/** Number and pace of sessions. */
export interface SessionLoad {
  readonly startPerSec: number;
  readonly stopPerSec: number;
  /** Sessions that may be in setup at once. */
  readonly maxOutstanding: number;
  readonly startDelayMs: number;
}

/** What happens to a session once it is up, and after it has ended. */
export interface SessionLife {
  /** 0: until it is stopped. */
  readonly holdMs: number;
  readonly reconnect: boolean;
  readonly reconnectDelayMs: number;
  /** 0: without end. */
  readonly maxAttempts: number;
}

/** The protocols by which a session is set up and kept. */
export interface AccessProtocol {
  start(session: number): void;
  /** Ends a session in order; `onDown` is called at once or when the peer has answered. */
  stop(session: number): void;
  /** Ends a session without a word to the peer. */
  drop(session: number): void;
  onTimer(session: number, kind: TimerKind): void;
}

/** What protocols report about their sessions. */
export interface SessionEvents {
  onStep(session: number, step: SessionStep): void;
  onUp(session: number): void;
  onDown(session: number, cause: SessionCause): void;
}

export interface SubscriberListener {
  /** A step of the setup is done. */
  onStepDone?(session: number, step: SessionStep, tookMs: number): void;
  onEstablished?(session: number, setupMs: number): void;
  /** A session that is up has negotiated its addresses again. */
  onNegotiated?(session: number): void;
  /** A session that was up has ended without having been stopped. */
  onFlap?(session: number, cause: SessionCause): void;
  onFailed?(session: number, cause: SessionCause): void;
  /** A session that was up is up no more, for whatever reason. */
  onDown?(session: number): void;
}

/** A queue of sessions; each is in it at most once. */
class SessionQueue {
  length = 0;
  readonly #ring: Int32Array;
  readonly #isQueued: Uint8Array;
  #head = 0;

  constructor(capacity: number) {
    this.#ring = new Int32Array(capacity);
    this.#isQueued = new Uint8Array(capacity);
  }

  push(session: number): void {
    if (this.#isQueued[session] === 1) return;
    this.#isQueued[session] = 1;
    this.#ring[(this.#head + this.length++) % this.#ring.length] = session;
  }

  shift(): number {
    const session = this.#ring[this.#head] as number;
    this.#head = (this.#head + 1) % this.#ring.length;
    this.length--;
    this.#isQueued[session] = 0;
    return session;
  }
}

/** Permissions at a steady rate; those that are not used are kept for a tenth of a second only. */
class Pace {
  readonly #perMs: number;
  readonly #max: number;
  #budget = 0;

  constructor(perSec: number) {
    this.#perMs = perSec / 1000;
    this.#max = Math.max(1, perSec / 10);
  }

  add(elapsedMs: number): void {
    this.#budget = Math.min(this.#max, this.#budget + elapsedMs * this.#perMs);
  }

  take(): boolean {
    if (this.#budget < 1) return false;
    this.#budget--;
    return true;
  }
}

/**
 * The life of all sessions of a port: started and stopped at their pace, kept, and started again. The protocols
 * themselves are behind `AccessProtocol`.
 */
export class Subscribers implements SessionEvents {
  readonly table: SessionTable;
  readonly timers: SessionTimers;
  readonly #load: SessionLoad;
  readonly #life: SessionLife;
  readonly #listener: SubscriberListener;
  readonly #starting: SessionQueue;
  readonly #stopping: SessionQueue;
  readonly #startPace: Pace;
  readonly #stopPace: Pace;
  /** Sessions that start again after their end, whatever their life says. */
  readonly #restarts: Uint8Array;
  /** Set before the first session starts. */
  protocol: AccessProtocol | undefined;
  #startsAtMs = Number.POSITIVE_INFINITY;
  #isEnding = false;
  #isHeld = false;

  constructor(count: number, load: SessionLoad, life: SessionLife, listener: SubscriberListener = {}) {
    this.table = new SessionTable(count);
    this.timers = new SessionTimers(count);
    this.#load = load;
    this.#life = life;
    this.#listener = listener;
    this.#starting = new SessionQueue(count);
    this.#stopping = new SessionQueue(count);
    this.#startPace = new Pace(load.startPerSec);
    this.#stopPace = new Pace(load.stopPerSec);
    this.#restarts = new Uint8Array(count);
  }

  /** Starts all sessions at their pace, after the delay. */
  begin(): void {
    this.#startsAtMs = this.timers.nowMs + this.#load.startDelayMs;
    this.start(0, this.table.count);
  }

  /** Stops all sessions at their pace; none starts again. */
  end(): void {
    this.#isEnding = true;
    this.stop(0, this.table.count);
  }

  /** True when every session has ended after `end`. */
  get isOver(): boolean {
    const { counts, count } = this.table;
    return this.#isEnding && (counts[sessionState.idle] as number) + (counts[sessionState.ended] as number) === count;
  }

  /** Queues the sessions [from, to) that are not active. */
  start(from: number, to: number): void {
    for (let session = from; session < to; session++) {
      const state = this.table.state[session] as number;
      if (state === sessionState.setup || state === sessionState.up) continue;
      if (state === sessionState.closing) this.#restarts[session] = 1;
      else this.#queue(session);
    }
  }

  stop(from: number, to: number): void {
    for (let session = from; session < to; session++) {
      this.#restarts[session] = 0;
      this.#stopping.push(session);
    }
  }

  restart(from: number, to: number): void {
    for (let session = from; session < to; session++) {
      this.#restarts[session] = 1;
      this.#stopping.push(session);
    }
  }

  advance(nowMs: number): void {
    const before = this.timers.nowMs;
    this.timers.advance(nowMs, this.#onTimer);
    const now = this.timers.nowMs;
    this.#stopPace.add(now - before);
    while (this.#stopping.length > 0 && this.#stopPace.take()) this.#stopOne(this.#stopping.shift());
    if (now < this.#startsAtMs || this.#isHeld) return;
    this.#startPace.add(Math.min(now - before, now - this.#startsAtMs));
    const { counts } = this.table;
    const { maxOutstanding } = this.#load;
    while (
      this.#starting.length > 0 &&
      (counts[sessionState.setup] as number) < maxOutstanding &&
      this.#startPace.take()
    )
      this.#startOne(this.#starting.shift());
  }

  /** No session starts while it is held. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
  }

  /** The link is down: every session ends without a word. Those that were active start again when it is back. */
  dropAll(cause: SessionCause): void {
    for (let session = 0; session < this.table.count; session++) {
      const state = this.table.state[session] as number;
      if (state !== sessionState.setup && state !== sessionState.up && state !== sessionState.closing) continue;
      if (state !== sessionState.closing) this.#restarts[session] = 1;
      this.protocol?.drop(session);
      this.onDown(session, cause);
    }
  }

  onStep(session: number, step: SessionStep): void {
    const before = this.table.stepOf(session);
    const took = this.table.enterStep(session, step, this.timers.nowMs);
    if (before !== 'none') this.#listener.onStepDone?.(session, before, took);
  }

  onUp(session: number): void {
    const before = this.table.state[session];
    if (before !== sessionState.setup && before !== sessionState.up) return;
    this.onStep(session, 'none');
    if (before === sessionState.up) {
      this.#listener.onNegotiated?.(session);
      return;
    }
    const took = this.table.establish(session, this.timers.nowMs);
    this.table.setCause(session, 'none');
    if (this.#life.holdMs > 0) this.timers.set(session, timerKind.life, this.#life.holdMs);
    this.#listener.onEstablished?.(session, took);
  }

  onDown(session: number, cause: SessionCause): void {
    const { table } = this;
    const before = table.state[session] as number;
    if (before === sessionState.idle || before === sessionState.ended || before === sessionState.waiting) return;
    this.timers.clearAll(session);
    table.enterStep(session, 'none', this.timers.nowMs);
    if (before !== sessionState.closing) table.setCause(session, cause);
    if (before === sessionState.up) {
      table.flaps[session] = (table.flaps[session] as number) + 1;
      this.#listener.onDown?.(session);
      this.#listener.onFlap?.(session, cause);
    } else if (before === sessionState.setup) this.#listener.onFailed?.(session, cause);
    this.#afterEnd(session);
  }

  #afterEnd(session: number): void {
    const { reconnect, reconnectDelayMs, maxAttempts } = this.#life;
    const { table } = this;
    const isStopped = table.causeOf(session) === 'stopped';
    const isLast = maxAttempts > 0 && (table.attempts[session] as number) >= maxAttempts;
    const startsAgain = this.#restarts[session] === 1 || (reconnect && !isStopped && !isLast);
    if (this.#isEnding || !startsAgain) {
      table.setState(session, sessionState.ended, this.timers.nowMs);
      return;
    }
    table.setState(session, sessionState.waiting, this.timers.nowMs);
    const delayMs = this.#restarts[session] === 1 ? 1 : reconnectDelayMs;
    this.#restarts[session] = 0;
    this.timers.set(session, timerKind.life, delayMs);
  }

  #queue(session: number): void {
    this.timers.clear(session, timerKind.life);
    if (!this.#isEnding) this.#starting.push(session);
  }

  #startOne(session: number): void {
    const state = this.table.state[session] as number;
    if (this.#isEnding || state === sessionState.setup || state === sessionState.up) return;
    if (state === sessionState.closing) return;
    this.timers.clearAll(session);
    this.table.begin(session, this.timers.nowMs);
    this.protocol?.start(session);
  }

  #stopOne(session: number): void {
    const { table } = this;
    const state = table.state[session] as number;
    if (state === sessionState.closing || state === sessionState.ended) {
      if (this.#restarts[session] === 1 && state === sessionState.ended) this.#queue(session);
      return;
    }
    this.timers.clear(session, timerKind.life);
    table.setCause(session, 'stopped');
    if (state === sessionState.idle || state === sessionState.waiting) {
      if (this.#restarts[session] === 1) this.#queue(session);
      else table.setState(session, sessionState.ended, this.timers.nowMs);
      return;
    }
    this.#close(session);
  }

  #close(session: number): void {
    if (this.table.state[session] === sessionState.up) this.#listener.onDown?.(session);
    this.table.setState(session, sessionState.closing, this.timers.nowMs);
    this.protocol?.stop(session);
  }

  readonly #onTimer = (session: number, kind: TimerKind): void => {
    if (kind !== timerKind.life) {
      this.protocol?.onTimer(session, kind);
      return;
    }
    if (this.table.state[session] === sessionState.up) {
      this.table.setCause(session, 'hold time over');
      this.#close(session);
    } else if (this.table.state[session] === sessionState.waiting) this.#queue(session);
  };
}
