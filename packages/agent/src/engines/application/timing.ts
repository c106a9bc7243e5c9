import { setTimeout as sleep } from 'node:timers/promises';
import type { PlaySpeed } from '@rushhour/protocol';
import type { Script } from './script.ts';

/** The pause before a step, derived from the recorded one. */
export const pauseOf = (speed: PlaySpeed, gapMs: number, leastGapMs: number): number =>
  speed.mode === 'original' && gapMs > 0 && gapMs >= leastGapMs ? gapMs / speed.multiplier : 0;

const hourMs = 3_600_000;

/**
 * How long a server waits for a step of a client, which may be busy with other sessions, pause as long as recorded, or
 * be rate-limited. A missing answer is detected by the client, and earlier.
 */
export const clientStepTimeoutMs = ({ play, sessions, timeline }: Script): number => {
  const speeds = [play.speed, ...sessions.map(({ speed }) => speed)];
  if (speeds.some(({ mode }) => mode === 'bps' || mode === 'pps')) return hourMs;
  const spanMs = (timeline.at(-1)?.atMs ?? 0) - (timeline[0]?.atMs ?? 0);
  const thinkMs = Math.max(...speeds.map((speed) => pauseOf(speed, spanMs, 0)));
  return play.timeoutMs * (sessions.length + 1) + thinkMs;
};

/** Sleeps; returns early when the run ends. */
export const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  if (ms > 0 && !signal.aborted) await sleep(ms, undefined, { signal }).catch(() => {});
};

/** Limits the rate of bits or steps of all sessions that share it. */
export class Throttle {
  readonly #perMs: number;
  readonly #unit: 'bps' | 'pps';
  #freeAt = 0;

  constructor(unit: 'bps' | 'pps', rate: number) {
    this.#unit = unit;
    this.#perMs = rate / 1000;
  }

  /** Milliseconds to wait before a step of `bytes` bytes. */
  take(bytes: number): number {
    const now = performance.now();
    const begins = Math.max(now, this.#freeAt);
    this.#freeAt = begins + (this.#unit === 'bps' ? bytes * 8 : 1) / this.#perMs;
    return begins - now;
  }
}
