import { performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import type { Alarm } from './alarm.ts';
import { requireLibc } from './kernel/libc.ts';

/** Something that waits for the kernel and handles what came. */
export interface Waiter {
  /** Hands over what is to be done, waits at most so long for the first event, handles all there are. */
  wait(ms: number): void;
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
const timerSlackOption = 29;

/**
 * Waits in the kernel in place of Node's event loop, which gets its turn after each slice and whenever it has work.
 * One for each thread: two of them would wait for each other.
 */
class TurnLoop {
  readonly #waiters: Waiter[] = [];
  readonly #alarms: LoopAlarm[] = [];
  #users = 0;
  #isNodeReady = false;
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
      waiter.watch(requireLibc().mainLoopFd(), () => {
        this.#isNodeReady = true;
      });
    }
  }

  /** The loop turns while somebody uses it. */
  acquire(): void {
    if (this.#users++ === 0) this.#immediate = setImmediate(this.#turn);
  }

  release(): void {
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
    let now = performance.now();
    const end = now + sliceMs;
    do {
      const next = this.#ringAlarms(now);
      now = this.#wait(Math.min(next, end) - now);
    } while (now < end && !this.#isNodeReady && this.#users > 0);
    this.#ringAlarms(now);
    if (this.#users > 0) this.#immediate = setImmediate(this.#turn);
  };

  #wait(ms: number): number {
    // What the others were given to do must have left before anyone waits.
    for (let index = 1; index < this.#waiters.length; index++) this.#waiters[index]?.wait(0);
    const main = this.#waiters[0] as Waiter;
    main.wait(Math.max(ms, 0));
    return main.now;
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
