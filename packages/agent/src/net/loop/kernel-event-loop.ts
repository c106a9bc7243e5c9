import { performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import { type NodeLoop, requireLibc } from '../kernel/libc.ts';
import type { Alarm } from './alarm.ts';

/** Something that waits for the kernel and handles what came. */
export interface Waiter {
  /** Hands over what is to be done, waits at most so long for the first event, handles all there are. False: none. */
  wait(ms: number): boolean;
  /** When it last came back from waiting, in the time of `performance.now`, which costs too much to ask twice. */
  readonly now: number;
  /** Calls whenever the descriptor is readable. */
  watch(fd: number, onReadable: () => void): void;
  /** Readable while there is something to handle. */
  readonly fd: number;
}

interface LoopAlarm extends Alarm {
  at: number;
  readonly ring: () => void;
}

// Node's timers have a fineness of a millisecond; so they lose nothing when the loop turns as often.
const sliceMs = 1;
// Under load a round of Node's loop is spared where it would find nothing to do.
const longestTurnMs = 10;
const timerSlackOption = 29;
const nothing = () => {};

/**
 * Waits in the kernel in place of Node's event loop, which gets its turn whenever it has work, and after each slice
 * unless that is known to be in vain.
 * One for each thread: two of them would wait for each other.
 */
class TurnLoop {
  readonly #waiters: Waiter[] = [];
  readonly #alarms: LoopAlarm[] = [];
  #users = 0;
  /** Users who carry on by promises. */
  #promising = 0;
  #isNodeReady = false;
  #nodeLoop: NodeLoop | undefined;
  #immediate: NodeJS.Immediate | undefined;

  /** The first waiter is the one that blocks; it watches the others. */
  add(waiter: Waiter): void {
    const [main] = this.#waiters;
    this.#waiters.push(waiter);
    if (main !== undefined) {
      main.watch(waiter.fd, () => waiter.wait(0));
      return;
    }
    // Short waits must not be stretched by the default of 50 µs.
    requireLibc().prctl(timerSlackOption, 1, 0, 0, 0);
    if (isMainThread) {
      this.#nodeLoop = requireLibc().mainLoop();
      waiter.watch(this.#nodeLoop.fd, () => {
        this.#isNodeReady = true;
      });
    }
  }

  /** The loop turns while somebody uses it. For those whose events are carried on by promises, each event ends a turn. */
  acquire({ isPromising = false } = {}): void {
    if (isPromising) this.#promising++;
    if (this.#users++ === 0) this.#immediate = setImmediate(this.#turn);
  }

  /** As it was acquired. */
  release({ isPromising = false } = {}): void {
    if (isPromising) this.#promising--;
    if (--this.#users === 0) clearImmediate(this.#immediate);
  }

  createAlarm(ring: () => void): Alarm {
    const alarm: LoopAlarm = {
      at: Number.POSITIVE_INFINITY,
      ring,
      set(at) {
        alarm.at = at;
      },
      cancel() {
        alarm.at = Number.POSITIVE_INFINITY;
      },
    };
    this.#alarms.push(alarm);
    return alarm;
  }

  readonly #turn = (): void => {
    this.#isNodeReady = false;
    const main = this.#waiters[0] as Waiter;
    const start = performance.now();
    let now = start;
    let end = start + sliceMs;
    do {
      const next = this.#ringAlarms(now);
      const isBusy = this.#wait(main, Math.max(0, Math.min(next, end) - now));
      now = main.now;
      if (isBusy && this.#promising > 0) break;
      if (isBusy && now >= end && this.#mayGoOn(start, now)) end = now + sliceMs;
    } while (now < end && !this.#isNodeReady && this.#users > 0);
    this.#ringAlarms(now);
    // Last, so that what others have put off until Node's next round comes before the next turn.
    if (this.#users > 0) this.#immediate = setImmediate(this.#turn);
  };

  #mayGoOn(start: number, now: number): boolean {
    if (this.#nodeLoop === undefined || now - start >= longestTurnMs) return false;
    // While an immediate is carried out, as this turn is, Node takes it for waiting, until another has come and gone.
    const probe = setImmediate(nothing).unref();
    const idleMs = this.#nodeLoop.idleMs();
    clearImmediate(probe);
    return idleMs < 0 || start + idleMs > now;
  }

  #wait(main: Waiter, ms: number): boolean {
    // What the others were given to do must have left before anyone waits.
    for (let index = 1; index < this.#waiters.length; index++) this.#waiters[index]?.wait(0);
    return main.wait(ms);
  }

  /** Says when the next one is due. */
  #ringAlarms(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (let index = 0; index < this.#alarms.length; index++) {
      const alarm = this.#alarms[index] as LoopAlarm;
      if (alarm.at <= now) {
        alarm.at = Number.POSITIVE_INFINITY;
        alarm.ring();
      }
      if (alarm.at < next) next = alarm.at;
    }
    return next;
  }
}

export const turnLoop = new TurnLoop();
