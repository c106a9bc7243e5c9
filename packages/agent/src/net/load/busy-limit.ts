import { LoadProfile, type Segment } from './load-profile.ts';

/** A change of the number of busy slots takes so long, so that connections do not all open in one moment. */
export const changeSec = 1;

/** How many slots may be busy at once, as a share that changes over time. */
export class BusyLimit {
  #share: LoadProfile;
  readonly #slots: number;
  /** Events under way by slot: a slot may have several. */
  readonly #active = new Map<number, number>();
  #busy = 0;
  /** Start of the curve, later by each pause. */
  #origin = 0;
  #pausedAt = 0;

  constructor(curve: readonly Segment[], slots: number) {
    this.#share = new LoadProfile(curve);
    this.#slots = slots;
  }

  start(now: number): void {
    this.#origin = now;
  }

  pause(now: number): void {
    this.#pausedAt = now;
  }

  resume(now: number): void {
    this.#origin += now - this.#pausedAt;
  }

  isReached(now: number): boolean {
    return this.#busy >= this.#limitAt(now);
  }

  /** Busy slots that are too many. */
  excessAt(now: number): number {
    return Math.max(0, this.#busy - this.#limitAt(now));
  }

  /** Leads evenly to another number of busy slots. */
  change(slots: number, now: number): void {
    const from = this.#shareAt(now);
    this.#share = new LoadProfile([{ seconds: changeSec, from, to: slots / this.#slots }]);
    this.#origin = now;
  }

  #shareAt(now: number): number {
    return this.#share.rateAt((now - this.#origin) / 1000);
  }

  #limitAt(now: number): number {
    return Math.round(this.#shareAt(now) * this.#slots);
  }

  begin(slot: number): void {
    this.#active.set(slot, (this.#active.get(slot) ?? 0) + 1);
    this.#busy++;
  }

  /** An event of the slot has ended, if it has one. */
  end(slot: number): void {
    const count = this.#active.get(slot) ?? 0;
    if (count === 0) return;
    this.#active.set(slot, count - 1);
    this.#busy--;
  }

  /** The slot is gone with all its events. */
  forget(slot: number): void {
    this.#busy -= this.#active.get(slot) ?? 0;
    this.#active.delete(slot);
  }
}
