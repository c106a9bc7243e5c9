import type { Histogram } from '@rushhour/protocol';
import { type Alarm, type CreateAlarm, createNodeAlarm } from '../loop/alarm.ts';
import type { LoadProfile } from './load-profile.ts';

// A session that becomes free takes due events itself; this interval only detects that none is waiting any more.
const blockedMs = 3;

/**
 * The schedule of an open-model load. An event that finds no free session stays in the schedule with its intended time,
 * so that waiting counts as latency.
 */
export class Pacer {
  #profile: LoadProfile;
  #origin = 0;
  #index = 0;
  #nextDue = Number.POSITIVE_INFINITY;
  #pausedAt: number | undefined;
  /** Seconds of traffic before the current profile. */
  #earlierSec = 0;
  #isBlocked = false;
  readonly #alarm: Alarm;
  readonly #onDue: (now: number) => void;
  readonly #lag: Histogram;
  readonly #sessionWait: Histogram | undefined;

  constructor(options: {
    profile: LoadProfile;
    lag: Histogram;
    /** Given when events wait for sessions that wait for a peer; otherwise only the generator can be late. */
    sessionWait?: Histogram | undefined;
    createAlarm?: CreateAlarm | undefined;
    onDue: (now: number) => void;
  }) {
    this.#alarm = (options.createAlarm ?? createNodeAlarm)(() => this.#tick());
    this.#profile = options.profile;
    this.#lag = options.lag;
    this.#sessionWait = options.sessionWait;
    this.#onDue = options.onDue;
  }

  start(): void {
    this.#origin = performance.now();
    this.#schedule();
    this.#wait();
  }

  stop(): void {
    this.#nextDue = Number.POSITIVE_INFINITY;
    this.#pausedAt ??= performance.now();
    this.#alarm.cancel();
  }

  pause(): void {
    if (this.#pausedAt !== undefined) return;
    this.#pausedAt = performance.now();
    this.#alarm.cancel();
  }

  resume(): void {
    if (this.#pausedAt === undefined) return;
    this.#origin += performance.now() - this.#pausedAt;
    this.#pausedAt = undefined;
    this.#schedule();
    this.#wait();
  }

  /** Switches to another profile. Due events of the old one that were not taken are dropped. */
  change(profile: LoadProfile): void {
    this.#earlierSec = this.elapsedSec;
    this.#profile = profile;
    this.#index = 0;
    this.#origin = this.#pausedAt ?? performance.now();
    this.#schedule();
    if (this.#pausedAt === undefined) this.#wait();
  }

  /** Takes the next event if it is due and returns its intended time, else NaN. The caller must begin it. */
  takeDue(now: number): number {
    if (this.#nextDue > now || this.#pausedAt !== undefined) return Number.NaN;
    const due = this.#nextDue;
    this.#index++;
    this.#schedule();
    return due;
  }

  /** Takes all due events and returns their number: at the end of a run, those that found no session. */
  overdue(now: number): number {
    let count = 0;
    while (!Number.isNaN(this.takeDue(now))) count++;
    return count;
  }

  /** Number of events that are due and were not taken. */
  get overdueCount(): number {
    if (this.#pausedAt !== undefined || this.#nextDue === Number.POSITIVE_INFINITY) return 0;
    return Math.max(0, Math.floor(this.#profile.eventsBy((performance.now() - this.#origin) / 1000)) - this.#index);
  }

  /** Seconds of traffic since the start, without pauses; 0 before the start. */
  get elapsedSec(): number {
    if (this.#origin === 0) return 0;
    return this.#earlierSec + ((this.#pausedAt ?? performance.now()) - this.#origin) / 1000;
  }

  /** The rate at this time of the schedule, also during a pause. */
  get scheduledRate(): number {
    if (this.#origin === 0) return 0;
    return this.#profile.rateAt(((this.#pausedAt ?? performance.now()) - this.#origin) / 1000);
  }

  get rate(): number {
    return this.#pausedAt === undefined ? this.#profile.rateAt((performance.now() - this.#origin) / 1000) : 0;
  }

  #schedule(): void {
    this.#nextDue = this.#origin + this.#profile.dueAt(this.#index) * 1000;
  }

  #wait(): void {
    if (this.#nextDue === Number.POSITIVE_INFINITY) this.#alarm.cancel();
    else this.#alarm.set(this.#isBlocked ? performance.now() + blockedMs : this.#nextDue);
  }

  #tick(): void {
    const now = performance.now();
    if (this.#nextDue <= now) {
      const lagUs = (now - this.#nextDue) * 1000;
      this.#lag.record(lagUs);
      // While no session is free, the delay may be caused by the peer.
      if (this.#isBlocked) this.#sessionWait?.record(lagUs);
      this.#onDue(now);
      this.#isBlocked = this.#nextDue <= now;
    } else this.#isBlocked = false;
    this.#wait();
  }
}
