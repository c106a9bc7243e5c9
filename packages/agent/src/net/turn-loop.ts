import { isMainThread } from 'node:worker_threads';
import type { Alarm } from './alarm.ts';
import { requireLibc } from './kernel/libc.ts';

/** Something that waits for the kernel and handles what came. */
export interface Waiter {
  /** Hands over what is to be done, waits at most so long for the first event, handles all there are. */
  wait(ms: number): void;
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
      this.#ringAlarms(now);
      this.#wait(Math.min(end, this.#nextAlarm()) - performance.now());
      now = performance.now();
    } while (now < end && !this.#isNodeReady && this.#users > 0);
    this.#ringAlarms(now);
    if (this.#users > 0) this.#immediate = setImmediate(this.#turn);
  };

  #wait(ms: number): void {
    // What the others were given to do must have left before anyone waits.
    for (let index = 1; index < this.#waiters.length; index++) this.#waiters[index]?.wait(0);
    this.#waiters[0]?.wait(Math.max(ms, 0));
  }

  #nextAlarm(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of this.#alarms) if (at < next) next = at;
    return next;
  }

  #ringAlarms(now: number): void {
    for (const alarm of this.#alarms) {
      if (alarm.at > now) continue;
      alarm.at = Number.POSITIVE_INFINITY;
      alarm.ring();
    }
  }
}

export const turnLoop = new TurnLoop();
