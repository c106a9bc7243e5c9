import { setTimeout as sleep } from 'node:timers/promises';
import type { PlaySpeed } from '@rushhour/protocol';

/** The pause to keep before a step, of what was recorded. */
export const pauseOf = (speed: PlaySpeed, gapMs: number, leastGapMs: number): number =>
  speed.mode === 'original' && gapMs > 0 && gapMs >= leastGapMs ? gapMs / speed.multiplier : 0;

/** Waits unless the run ends before. */
export const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  if (ms > 0 && !signal.aborted) await sleep(ms, undefined, { signal }).catch(() => {});
};

/** Holds what is exchanged to a rate, whoever exchanges it. */
export class Throttle {
  readonly #perMs: number;
  readonly #unit: 'bps' | 'pps';
  #freeAt = 0;

  constructor(unit: 'bps' | 'pps', rate: number) {
    this.#unit = unit;
    this.#perMs = rate / 1000;
  }

  /** How long to wait before a step of so many bytes. */
  take(bytes: number): number {
    const now = performance.now();
    const begins = Math.max(now, this.#freeAt);
    this.#freeAt = begins + (this.#unit === 'bps' ? bytes * 8 : 1) / this.#perMs;
    return begins - now;
  }
}
