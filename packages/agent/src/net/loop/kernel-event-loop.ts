import { performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import { type NodeLoop, requireLibc } from '../kernel/libc.ts';
import type { Alarm } from './alarm.ts';

/** A kernel event queue (epoll or io_uring) and the dispatch of its events. */
export interface Poller {
  /**
   * Runs deferred tasks, waits up to `ms` for the first event and dispatches all pending events. False if there were
   * none.
   */
  wait(ms: number): boolean;
  /**
   * The time of the last return from waiting, on the `performance.now` clock; cached because reading the clock is
   * expensive.
   */
  readonly now: number;
  /** Calls back whenever the descriptor is readable. */
  watch(fd: number, onReadable: () => void): void;
  /** Readable while events are pending. */
  readonly fd: number;
}

interface LoopAlarm extends Alarm {
  at: number;
  readonly onAlarm: () => void;
}

// Node's timers have a resolution of 1 ms, so running Node's loop this often delays none of them.
const sliceMs = 1;
// Under load, iterations of Node's loop that would find noop to do are skipped for up to this long.
const maxIterationMs = 10;
const timerSlackOption = 29;
const noop = () => {};

/**
 * Waits in the kernel instead of Node's event loop. Node's loop runs whenever it has work, and after each time slice
 * unless it is known to be idle. One per thread: two of them would block each other.
 */
class KernelEventLoop {
  readonly #pollers: Poller[] = [];
  readonly #alarms: LoopAlarm[] = [];
  #users = 0;
  /** Users whose event handlers continue in promises. */
  #promiseUsers = 0;
  #isNodeReady = false;
  #nodeLoop: NodeLoop | undefined;
  #immediate: NodeJS.Immediate | undefined;

  /** The first poller is the one that blocks; it watches the descriptors of the others. */
  add(poller: Poller): void {
    const [main] = this.#pollers;
    this.#pollers.push(poller);
    if (main !== undefined) {
      main.watch(poller.fd, () => poller.wait(0));
      return;
    }
    // The kernel's default timer slack of 50 µs would lengthen short waits.
    requireLibc().prctl(timerSlackOption, 1, 0, 0, 0);
    if (isMainThread) {
      this.#nodeLoop = requireLibc().mainLoop();
      poller.watch(this.#nodeLoop.fd, () => {
        this.#isNodeReady = true;
      });
    }
  }

  /**
   * The loop runs while it has users. With `usesPromises`, each batch of events ends the iteration so that promise
   * continuations run soon.
   */
  acquire({ usesPromises = false } = {}): void {
    if (usesPromises) this.#promiseUsers++;
    if (this.#users++ === 0) this.#immediate = setImmediate(this.#iterate);
  }

  /** With the same options as `acquire`. */
  release({ usesPromises = false } = {}): void {
    if (usesPromises) this.#promiseUsers--;
    if (--this.#users === 0) clearImmediate(this.#immediate);
  }

  createAlarm(onAlarm: () => void): Alarm {
    const alarm: LoopAlarm = {
      at: Number.POSITIVE_INFINITY,
      onAlarm,
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

  readonly #iterate = (): void => {
    this.#isNodeReady = false;
    const main = this.#pollers[0] as Poller;
    const start = performance.now();
    let now = start;
    let end = start + sliceMs;
    do {
      const next = this.#fireAlarms(now);
      const isBusy = this.#wait(main, Math.max(0, Math.min(next, end) - now));
      now = main.now;
      if (isBusy && this.#promiseUsers > 0) break;
      if (isBusy && now >= end && this.#canContinue(start, now)) end = now + sliceMs;
    } while (now < end && !this.#isNodeReady && this.#users > 0);
    this.#fireAlarms(now);
    // Scheduled last, so that immediates queued by others run before the next iteration.
    if (this.#users > 0) this.#immediate = setImmediate(this.#iterate);
  };

  #canContinue(start: number, now: number): boolean {
    if (this.#nodeLoop === undefined || now - start >= maxIterationMs) return false;
    // While an immediate callback such as this one runs, libuv reports pending work until another immediate was queued
    // and cleared.
    const probe = setImmediate(noop).unref();
    const idleMs = this.#nodeLoop.idleMs();
    clearImmediate(probe);
    return idleMs < 0 || start + idleMs > now;
  }

  #wait(main: Poller, ms: number): boolean {
    // The other pollers submit their pending requests before the main one blocks.
    for (let index = 1; index < this.#pollers.length; index++) this.#pollers[index]?.wait(0);
    return main.wait(ms);
  }

  /** Fires due alarms and returns when the next one is due. */
  #fireAlarms(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (let index = 0; index < this.#alarms.length; index++) {
      const alarm = this.#alarms[index] as LoopAlarm;
      if (alarm.at <= now) {
        alarm.at = Number.POSITIVE_INFINITY;
        alarm.onAlarm();
      }
      if (alarm.at < next) next = alarm.at;
    }
    return next;
  }
}

export const kernelEventLoop = new KernelEventLoop();
