import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientOutcome } from './driver.ts';

const rateStatuses = [429, 503];
/** Pauses before an attempt is sent again after a status that rate limits use. */
const rateWaitsMs = [1000, 2000, 4000];
/** After so many attempts that got such a status alone and after a pause, it is the status of a block page. */
const enoughPersisted = 3;
const longestMs = 30_000;
const patience = 4;
const slowShare = 4;
/** How long a late answer makes later silences doubtful. */
const slowForMs = 30_000;

export const isSilence = ({ connect, end }: Pick<ClientOutcome, 'connect' | 'end'>): boolean =>
  connect === 'timeout' || connect === 'refused' || connect === 'unreachable' || end === 'timeout';

export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {});

/** How long answers may take; grows when the server had everything and the answer came late. */
export class Patience {
  timeoutMs: number;
  #probes = 2;
  #slowAtMs = Number.NEGATIVE_INFINITY;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  get longTimeoutMs(): number {
    return Math.max(this.timeoutMs, Math.min(longestMs, Math.max(10_000, this.timeoutMs * patience)));
  }

  /**
   * Whether silence after so long may be slowness: answers have come later since, some came late lately, or it was
   * never tried. The first silences of a run are, as a device may hold requests for longer than the test waits.
   */
  isTooShort(triedMs: number, nowMs: number): boolean {
    if (this.timeoutMs > triedMs || nowMs - this.#slowAtMs < slowForMs) return true;
    this.#probes -= 1;
    return this.#probes >= 0;
  }

  /** An answer came in time, at this moment: one that took a good part of the time shows a busy path. */
  note(tookMs: number, nowMs: number): void {
    if (tookMs * slowShare >= this.timeoutMs) this.#slowAtMs = nowMs;
  }

  /** An answer came after so long. */
  learn(tookMs: number): void {
    this.timeoutMs = Math.max(this.timeoutMs, Math.min(longestMs, Math.round(tookMs * 1.5)));
  }
}

/** Distinguishes rate limits from block pages with the same status. */
export class RateLimits {
  readonly #persisted = new Map<number, number>();

  isDoubtful({ end, status, responseIsOurs }: ClientOutcome): boolean {
    const isSuspect = end === 'response' && !responseIsOurs && rateStatuses.includes(status);
    return isSuspect && (this.#persisted.get(status) ?? 0) < enoughPersisted;
  }

  /** Sends again after pauses until the status is another one; gives the last outcome and how often it was sent. */
  async resend(first: ClientOutcome, send: () => Promise<ClientOutcome>, signal: AbortSignal) {
    let seen = first;
    let tries = 1;
    for (const ms of rateWaitsMs) {
      await pause(ms, signal);
      if (signal.aborted) break;
      seen = await send();
      tries += 1;
      if (!this.isDoubtful(seen)) break;
    }
    return { seen, tries };
  }

  /** A harmless exchange worked between two such statuses. */
  notePersisted(status: number): void {
    this.#persisted.set(status, (this.#persisted.get(status) ?? 0) + 1);
  }
}
