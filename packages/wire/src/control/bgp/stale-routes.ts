import type { BgpFamily } from './families.ts';
import type { GracefulRestart } from './open.ts';
import type { Rib } from './rib.ts';

const never = Number.POSITIVE_INFINITY;
/** Time for a neighbour that is back to announce all of its routes. */
const announceMs = 360_000;

/** Keeps the routes of a neighbour that restarts until it has announced them again (RFC 4724, section 4.2). */
export class StaleRoutes {
  readonly #rib: Rib;
  #until = never;

  constructor(rib: Rib) {
    this.#rib = rib;
  }

  /** The session was lost without a NOTIFICATION; `restart` is what the neighbour has said in it. */
  keep({ families, restartSec }: GracefulRestart, now: number): void {
    // Routes that are stale from the restart before are not kept once more.
    this.#end();
    for (const table of this.#rib.tables) {
      if (families.includes(table.family)) table.markStale();
      else table.clear();
    }
    this.#until = now + restartSec * 1000;
  }

  /** The session was lost in another way. */
  clear(): void {
    this.#until = never;
    this.#rib.clear();
  }

  /** The session is up again: routes of the families that are still forwarded stay. */
  resume(forwarded: readonly BgpFamily[], now: number): void {
    if (this.#until === never) return;
    for (const { family } of this.#rib.tables) if (!forwarded.includes(family)) this.remove(family);
    this.#until = now + announceMs;
  }

  /** The neighbour has announced all of its routes of a family. */
  remove(family: BgpFamily): void {
    if (this.#until < never) this.#rib.tableOf(family).removeStale();
  }

  advance(now: number): void {
    if (now >= this.#until) this.#end();
  }

  #end(): void {
    if (this.#until === never) return;
    this.#until = never;
    for (const table of this.#rib.tables) table.removeStale();
  }
}
