import type { Duration, Histogram, Load } from '@rushhour/protocol';
import type { CreateAlarm } from '../loop/alarm.ts';
import { LoadProfile, type Ramps, segmentsOf } from './load-profile.ts';
import { Pacer } from './pacer.ts';

export interface DriverOptions {
  /** Events a second; undefined: the next event begins as soon as there is a place for it. */
  readonly load: Load;
  readonly duration: Duration;
  /** Most events in all. */
  readonly limit: number;
  readonly lag: Histogram;
  /** Wakes when the next event is due; by Node's timers when left out. */
  readonly createAlarm?: CreateAlarm;
  /** Begins an event in a free place. `intended` is when it was due, `now` when it begins, in the time of `performance.now`. */
  readonly begin: (place: number, intended: number, now: number) => void;
}

const rampsOf = (duration: Duration): Ramps => ({
  ...(duration.mode === 'time' && { seconds: duration.seconds }),
  rampUpSec: duration.rampUpSec,
  rampDownSec: duration.mode === 'time' ? duration.rampDownSec : 0,
});

const profileOf = (load: Load, duration: Duration): LoadProfile | undefined =>
  load.rate === undefined ? undefined : new LoadProfile(segmentsOf({ ...load, rate: load.rate }, rampsOf(duration)));

/**
 * Brings events and places together: an event begins when it is due and a place is free.
 * Places are used in the order in which they became free.
 */
export class LoadDriver {
  readonly #options: DriverOptions;
  readonly #pacer: Pacer | undefined;
  #free: number[] = [];
  #nextFree = 0;
  #state: 'waiting' | 'running' | 'paused' | 'stopped' = 'waiting';
  #issued = 0;

  constructor(options: DriverOptions) {
    this.#options = options;
    const profile = profileOf(options.load, options.duration);
    if (profile === undefined) return;
    this.#pacer = new Pacer({
      profile,
      lag: options.lag,
      createAlarm: options.createAlarm,
      onDue: (now) => this.#serve(now),
    });
  }

  get isPaced(): boolean {
    return this.#pacer !== undefined;
  }
  get issued(): number {
    return this.#issued;
  }
  get isExhausted(): boolean {
    return this.#state === 'stopped' || this.#issued >= this.#options.limit;
  }
  /** The load that is wanted now, in events a second; 0 when it is unlimited. */
  get rate(): number {
    return this.#pacer?.rate ?? 0;
  }

  start(): void {
    this.#state = 'running';
    this.#pacer?.start();
    this.#serve(performance.now());
  }

  /** Begins nothing more; says how many events were due and found no place. */
  stop(): number {
    if (this.#state === 'stopped') return 0;
    // What fell due since the last look is still carried out: the end must not come between the two.
    this.#serve(performance.now());
    this.#state = 'stopped';
    const left = this.#options.limit - this.#issued;
    const overdue = Math.min(left, this.#pacer?.overdue(performance.now()) ?? 0);
    this.#pacer?.stop();
    return overdue;
  }

  pause(): void {
    if (this.#state !== 'running') return;
    this.#state = 'paused';
    this.#pacer?.pause();
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    this.#pacer?.resume();
    this.#serve(performance.now());
  }

  /** False when there is no rate to change. */
  changeRate(rate: number): boolean {
    this.#pacer?.change(new LoadProfile(segmentsOf({ rate }, { rampUpSec: 0, rampDownSec: 0 })));
    return this.#pacer !== undefined;
  }

  /** Offers a place; an event that is due begins in it at once. */
  offer(place: number, now: number): void {
    if (this.#state === 'running' && this.#nextFree === this.#free.length) {
      const intended = this.#take(now);
      if (!Number.isNaN(intended)) {
        this.#options.begin(place, intended, now);
        return;
      }
    }
    this.#free.push(place);
  }

  /** Takes back a place that was offered, because it is gone. */
  withdraw(place: number): void {
    if (this.#nextFree === this.#free.length) return;
    this.#free = this.#free.slice(this.#nextFree).filter((candidate) => candidate !== place);
    this.#nextFree = 0;
  }

  #take(now: number): number {
    if (this.#issued >= this.#options.limit) return Number.NaN;
    const intended = this.#pacer === undefined ? now : this.#pacer.takeDue(now);
    if (!Number.isNaN(intended)) this.#issued++;
    return intended;
  }

  #serve(now: number): void {
    while (this.#nextFree < this.#free.length && this.#state === 'running') {
      const intended = this.#take(now);
      if (Number.isNaN(intended)) break;
      this.#options.begin(this.#free[this.#nextFree++] as number, intended, now);
    }
    if (this.#nextFree > 1024 && this.#nextFree * 2 > this.#free.length) {
      this.#free = this.#free.slice(this.#nextFree);
      this.#nextFree = 0;
    }
  }
}
