import { textOfAddress } from '../address-bytes.ts';
import { type EncodedSource, sourceFlag } from './encoding.ts';
import type { GroupChanges, JoinPruneMessage } from './message.ts';

/** A tree that a neighbour wants from this router. */
export interface ReceivedTree {
  readonly group: Uint8Array;
  /** The source, or the rendezvous point of the shared tree. */
  readonly source: EncodedSource;
  /** Who has joined it last. */
  neighbour: Uint8Array;
  expiresAt: number;
  /** It has been pruned, and ends then unless another router objects. */
  prunedAt: number;
}

const never = Number.POSITIVE_INFINITY;
const forever = 65_535;
const maxTrees = 1_000_000;
/** A prune of one source on the shared tree: it ends nothing that is kept here. */
const isSharedPrune = ({ flags }: EncodedSource): boolean =>
  (flags & sourceFlag.rendezvousTree) !== 0 && (flags & sourceFlag.wildcard) === 0;

/** What downstream neighbours have joined (RFC 7761, section 4.5.1 and 4.5.2). */
export class ReceivedTrees {
  readonly all = new Map<string, ReceivedTree>();
  #checkAt = 0;

  /** Takes a message that asks this router. `overrideMs`: how long others may object to a prune; 0: there are none. */
  take(
    message: JoinPruneMessage,
    neighbour: Uint8Array,
    { now, overrideMs }: { now: number; overrideMs: number },
  ): void {
    const expiresAt = message.holdSec === forever ? never : now + message.holdSec * 1000;
    for (const { group, joined, pruned } of message.groups) {
      for (const source of pruned) this.#prune(group.address, source, now + overrideMs);
      for (const source of joined) this.#join(group.address, source, { neighbour, expiresAt });
    }
  }

  /** Ends what is over. Returns what was pruned without an objection. */
  advance(now: number): GroupChanges[] {
    if (now < this.#checkAt) return [];
    this.#checkAt = now + 100;
    const ended: GroupChanges[] = [];
    for (const [key, { group, source, expiresAt, prunedAt }] of this.all) {
      if (now < expiresAt && now < prunedAt) continue;
      this.all.delete(key);
      if (now >= prunedAt)
        ended.push({ group: { address: group, bits: group.length * 8 }, joined: [], pruned: [source] });
    }
    return ended;
  }

  #keyOf(group: Uint8Array, { address, flags }: EncodedSource): string {
    const isShared = (flags & sourceFlag.wildcard) !== 0;
    return `${textOfAddress(group)} ${isShared ? '*' : textOfAddress(address)}`;
  }

  #join(group: Uint8Array, source: EncodedSource, state: { neighbour: Uint8Array; expiresAt: number }): void {
    if (isSharedPrune(source)) return;
    const key = this.#keyOf(group, source);
    const known = this.all.get(key);
    if (known === undefined && this.all.size < maxTrees)
      this.all.set(key, { group, source, ...state, prunedAt: never });
    if (known === undefined) return;
    known.neighbour = state.neighbour;
    known.expiresAt = Math.max(known.expiresAt, state.expiresAt);
    known.prunedAt = never;
  }

  #prune(group: Uint8Array, source: EncodedSource, at: number): void {
    if (isSharedPrune(source)) return;
    const known = this.all.get(this.#keyOf(group, source));
    if (known !== undefined) known.prunedAt = Math.min(known.prunedAt, at);
  }
}
