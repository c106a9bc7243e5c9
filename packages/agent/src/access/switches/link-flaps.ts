import type { LinksProfile } from '../options/access-profiles.ts';

/** Interruptions of a link on purpose: when it goes down and when it comes back. */
export class LinkFlaps {
  readonly #options: LinksProfile['flaps'];
  #nextMs: number;
  #isUp = true;
  #done = 0;

  constructor(options: LinksProfile['flaps']) {
    this.#options = options;
    this.#nextMs = options.intervalSec === 0 ? Number.POSITIVE_INFINITY : options.intervalSec * 1000;
  }

  /** Calls `setLink` when the state of the link changes. */
  advance(nowMs: number, setLink: (isUp: boolean) => void): void {
    if (nowMs < this.#nextMs) return;
    const { intervalSec, downSec, count } = this.#options;
    this.#isUp = !this.#isUp;
    if (this.#isUp) this.#done++;
    const isLast = count > 0 && this.#done >= count;
    this.#nextMs = isLast ? Number.POSITIVE_INFINITY : nowMs + (this.#isUp ? intervalSec : downSec) * 1000;
    setLink(this.#isUp);
  }
}
