import { compareAddresses, textOfAddress } from '../address-bytes.ts';
import type { HelloMessage, PruneDelay } from './hello.ts';

export interface PimNeighbour {
  readonly address: Uint8Array;
  readonly since: number;
  expiresAt: number;
  pruneDelay: PruneDelay | undefined;
  drPriority: number | undefined;
  generationId: number | undefined;
}

/** The router itself, as neighbours see it. */
export interface OwnHello {
  readonly address: Uint8Array;
  readonly drPriority: number;
  readonly pruneDelay: PruneDelay;
}

const forever = 65_535;
const maxNeighbours = 10_000;
/** Where a neighbour says nothing (RFC 7761, section 4.11). */
const defaultDelay: PruneDelay = { canTrack: false, propagationMs: 500, overrideMs: 2500 };

/** What a hello has changed. */
export type HelloEffect = 'new' | 'restarted' | 'known' | 'gone' | 'unknown';

/** The routers of a link (RFC 7761, section 4.3). */
export class PimNeighbours {
  readonly all = new Map<string, PimNeighbour>();
  readonly #own: OwnHello;

  constructor(own: OwnHello) {
    this.#own = own;
  }

  hear(hello: HelloMessage, source: Uint8Array, now: number): HelloEffect {
    const key = textOfAddress(source);
    const known = this.all.get(key);
    if (hello.holdSec === 0) return this.all.delete(key) ? 'gone' : 'unknown';
    if (known === undefined && this.all.size >= maxNeighbours) return 'unknown';
    const { pruneDelay, drPriority, generationId, holdSec } = hello;
    const expiresAt = holdSec === forever ? Number.POSITIVE_INFINITY : now + holdSec * 1000;
    const isSame = known !== undefined && known.generationId === generationId;
    const since = isSame ? known.since : now;
    this.all.set(key, { address: source, since, expiresAt, pruneDelay, drPriority, generationId });
    if (isSame) return 'known';
    return known === undefined ? 'new' : 'restarted';
  }

  find(address: Uint8Array): PimNeighbour | undefined {
    return this.all.get(textOfAddress(address));
  }

  /** Forgets those that have fallen silent, and returns them. */
  expire(now: number): PimNeighbour[] {
    const gone: PimNeighbour[] = [];
    for (const [key, neighbour] of this.all) {
      if (now < neighbour.expiresAt) continue;
      this.all.delete(key);
      gone.push(neighbour);
    }
    return gone;
  }

  /**
   * The designated router: the highest priority, then the highest address. Priorities do not count while a router of
   * the link has none (RFC 7761, section 4.3.2).
   */
  get designated(): Uint8Array {
    const { address, drPriority } = this.#own;
    const routers = [{ address, drPriority }, ...this.all.values()];
    const usesPriority = routers.every((router) => router.drPriority !== undefined);
    return routers.reduce((best, router) => {
      const byPriority = usesPriority ? (router.drPriority as number) - (best.drPriority as number) : 0;
      return (byPriority || compareAddresses(router.address, best.address)) > 0 ? router : best;
    }).address;
  }

  /** The longest delays of all routers; the defaults while one does not say its own (RFC 7761, section 4.3.3). */
  get pruneDelay(): PruneDelay {
    const given = [...this.all.values()].map(({ pruneDelay }) => pruneDelay);
    if (given.includes(undefined)) return defaultDelay;
    return (given as PruneDelay[]).reduce(
      (sum, delay) => ({
        canTrack: sum.canTrack && delay.canTrack,
        propagationMs: Math.max(sum.propagationMs, delay.propagationMs),
        overrideMs: Math.max(sum.overrideMs, delay.overrideMs),
      }),
      this.#own.pruneDelay,
    );
  }
}
