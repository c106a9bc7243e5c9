import type { Duration, Histogram, Load } from '@rushhour/protocol';
import type { Counter } from '../../samples.ts';
import { type Alarm, type CreateAlarm, createNodeAlarm } from '../loop/alarm.ts';
import { BusyLimit, changeSec } from './busy-limit.ts';
import { changedSegments, LoadProfile, type Ramps, segmentsOf } from './load-profile.ts';
import { Pacer } from './pacer.ts';

export interface LoadDriverOptions {
  /** Events per second; undefined: each event begins as soon as a slot is free. */
  readonly load: Load;
  readonly duration: Duration;
  /** Maximum number of events in total. */
  readonly limit: number;
  readonly lag: Histogram;
  /** See `Pacer`. */
  readonly sessionWait?: Histogram;
  /** Number of slots there will be, where a curve limits how many are busy. */
  readonly slots?: number;
  /** How many of the slots are busy at first, where that is the load; instead of a curve. */
  readonly busy?: number | undefined;
  /** Creates the timer for the next event; Node's timers by default. */
  readonly createAlarm?: CreateAlarm;
  /**
   * Begins an event in a free slot. `intended` is when it was due, `now` when it begins, both on the `performance.now`
   * clock.
   */
  readonly begin: (slot: number, intended: number, now: number) => void;
}

export const rampsOf = (duration: Duration): Ramps => ({
  ...(duration.mode === 'time' && { seconds: duration.seconds }),
  rampUpSec: duration.rampUpSec,
  rampDownSec: duration.mode === 'time' ? duration.rampDownSec : 0,
  curve: duration.curve,
});

/** How many of the slots may be busy over time, where each begins its next event when the one before has ended. */
const concurrencyOf = ({ load, duration, slots, busy }: LoadDriverOptions): BusyLimit | undefined => {
  if (load.rate !== undefined || slots === undefined) return undefined;
  const curve = busy === undefined ? duration.curve : [{ seconds: changeSec, from: 0, to: busy / slots }];
  return curve === undefined ? undefined : new BusyLimit(curve, slots);
};

/** How often the number of busy slots follows its curve. */
const followMs = 50;

const profileOf = (load: Load, duration: Duration): LoadProfile | undefined =>
  load.rate === undefined ? undefined : new LoadProfile(segmentsOf({ ...load, rate: load.rate }, rampsOf(duration)));

/** Changes the rate of a running schedule; its ramps stay. */
export const changePace = (pacer: Pacer, rate: number, duration: Duration): void => {
  const segments = changedSegments({ from: pacer.scheduledRate, rate }, rampsOf(duration), pacer.elapsedSec);
  pacer.change(new LoadProfile(segments));
};

/** Assigns due events to free slots. Slots are reused in the order in which they became free. */
export class LoadDriver {
  readonly #options: LoadDriverOptions;
  readonly #pacer: Pacer | undefined;
  #free: number[] = [];
  #nextFree = 0;
  #state: 'waiting' | 'running' | 'paused' | 'stopped' = 'waiting';
  #issued = 0;
  #begun: Counter | undefined;
  readonly #busyLimit: BusyLimit | undefined;
  readonly #follow: Alarm | undefined;

  constructor(options: LoadDriverOptions) {
    this.#options = options;
    this.#busyLimit = concurrencyOf(options);
    if (this.#busyLimit) this.#follow = (options.createAlarm ?? createNodeAlarm)(() => this.#followCurve());
    const profile = profileOf(options.load, options.duration);
    if (profile === undefined) return;
    this.#pacer = new Pacer({
      profile,
      lag: options.lag,
      sessionWait: options.sessionWait,
      createAlarm: options.createAlarm,
      onDue: (now) => this.#assign(now),
    });
  }

  get isPaced(): boolean {
    return this.#pacer !== undefined;
  }
  get isExhausted(): boolean {
    return this.#state === 'stopped' || this.#issued >= this.#options.limit;
  }
  /** Number of events that are due and have not begun. */
  get overdueCount(): number {
    return Math.min(this.#options.limit - this.#issued, this.#pacer?.overdueCount ?? 0);
  }
  /** The current target rate in events per second; 0 if unlimited. */
  get rate(): number {
    return this.#pacer?.rate ?? 0;
  }

  /** Counts every event from now on at the moment it begins, because the counter is read at any time. */
  countInto(begun: Counter): void {
    this.#begun = begun;
  }

  start(): void {
    this.#state = 'running';
    this.#pacer?.start();
    this.#busyLimit?.start(performance.now());
    this.#followCurve();
  }

  /** Begins no more events; returns how many were due and found no slot. */
  stop(): number {
    if (this.#state === 'stopped') return 0;
    // Events that became due since the last check are still begun, so that the end does not drop them.
    this.#assign(performance.now());
    this.#state = 'stopped';
    this.#follow?.cancel();
    const left = this.#options.limit - this.#issued;
    const overdue = Math.min(left, this.#pacer?.overdue(performance.now()) ?? 0);
    this.#pacer?.stop();
    return overdue;
  }

  pause(): void {
    if (this.#state !== 'running') return;
    this.#state = 'paused';
    this.#busyLimit?.pause(performance.now());
    this.#pacer?.pause();
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    this.#pacer?.resume();
    this.#busyLimit?.resume(performance.now());
    this.#followCurve();
  }

  /** False if the load has no rate. */
  changeRate(rate: number): boolean {
    if (this.#pacer === undefined) return false;
    changePace(this.#pacer, rate, this.#options.duration);
    return true;
  }

  /** False if the number of busy slots is not the load. */
  changeBusy(slots: number): boolean {
    if (this.#options.busy === undefined) return false;
    this.#busyLimit?.change(slots, performance.now());
    return true;
  }

  /** Busy slots above the number that is wanted now. */
  excessAt(now: number): number {
    return this.#busyLimit?.excessAt(now) ?? 0;
  }

  /** Offers a free slot; a due event begins in it immediately. */
  offer(slot: number, now: number): void {
    this.#busyLimit?.end(slot);
    if (this.#state === 'running' && this.#nextFree === this.#free.length) {
      const intended = this.#take(now);
      if (!Number.isNaN(intended)) {
        this.#begin(slot, intended, now);
        return;
      }
    }
    this.#free.push(slot);
  }

  /** Withdraws an offered slot that no longer exists. */
  withdraw(slot: number): void {
    this.#busyLimit?.forget(slot);
    this.recall(slot);
  }

  /** Takes back what a slot has offered; its events under way go on. */
  recall(slot: number): void {
    if (this.#nextFree === this.#free.length) return;
    this.#free = this.#free.slice(this.#nextFree).filter((candidate) => candidate !== slot);
    this.#nextFree = 0;
  }

  #begin(slot: number, intended: number, now: number): void {
    this.#busyLimit?.begin(slot);
    this.#options.begin(slot, intended, now);
  }

  #followCurve(): void {
    this.#assign(performance.now());
    if (this.#state === 'running') this.#follow?.set(performance.now() + followMs);
  }

  #take(now: number): number {
    if (this.#issued >= this.#options.limit || this.#busyLimit?.isReached(now)) return Number.NaN;
    const intended = this.#pacer === undefined ? now : this.#pacer.takeDue(now);
    if (!Number.isNaN(intended)) {
      this.#issued++;
      this.#begun?.add(1);
    }
    return intended;
  }

  #assign(now: number): void {
    while (this.#nextFree < this.#free.length && this.#state === 'running') {
      const intended = this.#take(now);
      if (Number.isNaN(intended)) break;
      this.#begin(this.#free[this.#nextFree++] as number, intended, now);
    }
    if (this.#nextFree > 1024 && this.#nextFree * 2 > this.#free.length) {
      this.#free = this.#free.slice(this.#nextFree);
      this.#nextFree = 0;
    }
  }
}
