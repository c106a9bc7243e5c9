import { setTimeout as sleep } from 'node:timers/promises';
import type { PlaySpeed } from '@rushhour/protocol';
import type { Script } from './script.ts';

/** The pause to keep before a step, of what was recorded. */
export const pauseOf = (speed: PlaySpeed, gapMs: number, leastGapMs: number): number =>
  speed.mode === 'original' && gapMs > 0 && gapMs >= leastGapMs ? gapMs / speed.multiplier : 0;

const hourMs = 3_600_000;

/**
 * How long a server waits for a step of a client, which may be busy with other sessions, think as long as it was
 * recorded, or be held to a rate. That nothing is answered is noticed by the client, and sooner.
 */
export const clientStepTimeoutMs = ({ play, sessions, timeline }: Script): number => {
  const speeds = [play.speed, ...sessions.map(({ speed }) => speed)];
  if (speeds.some(({ mode }) => mode === 'bps' || mode === 'pps')) return hourMs;
  const spanMs = (timeline.at(-1)?.atMs ?? 0) - (timeline[0]?.atMs ?? 0);
  const thinkMs = Math.max(...speeds.map((speed) => pauseOf(speed, spanMs, 0)));
  return play.timeoutMs * (sessions.length + 1) + thinkMs;
};

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
