import { compareAddresses } from '../address-bytes.ts';
import { type EncodedSource, sourceFlag } from './encoding.ts';
import { GroupSequence } from './group-sequence.ts';
import type { GroupChanges, JoinPruneMessage } from './message.ts';

export interface JoinOptions {
  readonly periodSec: number;
  readonly firstGroup: Uint8Array;
  readonly groupCount: number;
  /** Without any the shared tree is joined. */
  readonly sources: readonly Uint8Array[];
  /** Largest message in bytes. */
  readonly maxBytes: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

const never = Number.POSITIVE_INFINITY;
/** Messages of one step: the rest follows in the next ones. */
const maxMessages = 500;
const maxGroups = 255;
/** How long a join counts, in periods (RFC 7761, section 4.11). */
const holdPeriods = 3.5;
const maxHoldSec = 65_535;
/** While no rendezvous point is known. */
const retryMs = 1000;
/** Exceptions that are kept at most. */
const maxExceptions = 100_000;

/** Finds the rendezvous point of a group. */
export type PointOf = (group: Uint8Array) => Uint8Array | undefined;

/** The trees a router asks its upstream neighbour for (RFC 7761, section 4.5.5 and 4.5.6). */
export class JoinedTrees {
  readonly #options: JoinOptions;
  readonly #groups: GroupSequence;
  #nextAt = never;
  /** Group from which the round goes on. */
  #next = 0;
  #roundAt = 0;
  /** No group of the round had a rendezvous point. */
  #isIdleRound = true;
  /** Groups that others have joined as well: they are left out until then. */
  readonly #suppressed = new Map<number, number>();
  /** Groups that others prune: they are joined again then. */
  readonly #overrides = new Map<number, number>();

  constructor(options: JoinOptions) {
    this.#options = options;
    this.#groups = new GroupSequence(options.firstGroup);
  }

  /** Joins everything at `at` and from then on in each period. */
  start(at: number): void {
    this.#next = 0;
    this.#isIdleRound = true;
    this.#roundAt = at;
    this.#nextAt = this.#options.groupCount > 0 ? at : never;
    this.#suppressed.clear();
  }

  stop(): void {
    this.#nextAt = never;
    this.#overrides.clear();
  }

  get isActive(): boolean {
    return this.#nextAt !== never;
  }

  /** The messages that are due. */
  due(now: number, upstream: Uint8Array, pointOf: PointOf): JoinPruneMessage[] {
    const messages = this.#dueOverrides(now, upstream, pointOf);
    if (now < this.#nextAt) return messages;
    while (messages.length < maxMessages && this.#next < this.#options.groupCount)
      messages.push(...this.#nextMessage(now, upstream, pointOf));
    if (this.#next < this.#options.groupCount) return messages;
    this.#next = 0;
    this.#roundAt = Math.max(this.#roundAt + (this.#isIdleRound ? retryMs : this.#options.periodSec * 1000), now);
    this.#nextAt = this.#roundAt;
    this.#isIdleRound = true;
    return messages;
  }

  /** Messages that give all groups back. */
  *prunes(upstream: Uint8Array, pointOf: PointOf): IterableIterator<JoinPruneMessage> {
    const { groupCount } = this.#options;
    for (let next = 0; next < groupCount; ) {
      const changes: GroupChanges[] = [];
      for (const end = Math.min(next + this.#groupsPerMessage, groupCount); next < end; next++) {
        const change = this.#changeOf(next, pointOf);
        if (change !== undefined) changes.push({ ...change, joined: [], pruned: change.joined });
      }
      if (changes.length > 0) yield this.#messageOf(upstream, changes);
    }
  }

  /** Another router asks the same neighbour for a group, or gives it back. */
  overhear({ group, joined, pruned }: GroupChanges, now: number, delay: { isSuppressed: boolean; overrideMs: number }) {
    const { groupCount, periodSec, random } = this.#options;
    const index = this.#groups.indexOf(group.address);
    if (!this.isActive || !Number.isInteger(index) || index < 0 || index >= groupCount) return;
    if (joined.some((source) => this.#isOurs(source)) && delay.isSuppressed && this.#suppressed.size < maxExceptions)
      this.#suppressed.set(index, now + periodSec * 1000 * (1.1 + 0.3 * random()));
    if (!pruned.some((source) => this.#isOurs(source))) return;
    this.#suppressed.delete(index);
    const at = Math.min(this.#overrides.get(index) ?? never, now + random() * delay.overrideMs);
    if (this.#overrides.size < maxExceptions) this.#overrides.set(index, at);
  }

  get #sourceBytes(): number {
    return this.#options.firstGroup.length + 4;
  }

  get #groupsPerMessage(): number {
    const { maxBytes, sources } = this.#options;
    const head = 8 + this.#sourceBytes - 2;
    const each = this.#sourceBytes + 4 + this.#sourceBytes * Math.max(sources.length, 1);
    return Math.max(1, Math.min(maxGroups, Math.floor((maxBytes - head) / each)));
  }

  #isOurs({ address, flags }: EncodedSource): boolean {
    const { sources } = this.#options;
    if (sources.length === 0) return (flags & sourceFlag.wildcard) !== 0;
    return sources.some((source) => compareAddresses(source, address) === 0);
  }

  #changeOf(index: number, pointOf: PointOf): GroupChanges | undefined {
    const address = this.#groups.at(index);
    const { sparse, wildcard, rendezvousTree } = sourceFlag;
    let joined: EncodedSource[] = this.#options.sources.map((source) => ({ address: source, flags: sparse }));
    if (joined.length === 0) {
      const point = pointOf(address);
      if (point === undefined) return undefined;
      joined = [{ address: point, flags: sparse | wildcard | rendezvousTree }];
    }
    return { group: { address, bits: address.length * 8 }, joined, pruned: [] };
  }

  #messageOf(upstream: Uint8Array, groups: readonly GroupChanges[]): JoinPruneMessage {
    const holdSec = Math.min(Math.ceil(this.#options.periodSec * holdPeriods), maxHoldSec);
    return { kind: 'joinPrune', upstream, holdSec, groups };
  }

  #nextMessage(now: number, upstream: Uint8Array, pointOf: PointOf): JoinPruneMessage[] {
    const changes: GroupChanges[] = [];
    const { groupCount } = this.#options;
    for (; changes.length < this.#groupsPerMessage && this.#next < groupCount; this.#next++) {
      const until = this.#suppressed.get(this.#next);
      const isSuppressed = until !== undefined && now < until;
      if (!isSuppressed) this.#suppressed.delete(this.#next);
      const change = isSuppressed ? undefined : this.#changeOf(this.#next, pointOf);
      if (isSuppressed || change !== undefined) this.#isIdleRound = false;
      if (change !== undefined) changes.push(change);
    }
    return changes.length === 0 ? [] : [this.#messageOf(upstream, changes)];
  }

  #dueOverrides(now: number, upstream: Uint8Array, pointOf: PointOf): JoinPruneMessage[] {
    const messages: JoinPruneMessage[] = [];
    for (const [index, at] of this.#overrides) {
      if (now < at) continue;
      this.#overrides.delete(index);
      const change = this.#changeOf(index, pointOf);
      if (change !== undefined) messages.push(this.#messageOf(upstream, [change]));
    }
    return messages;
  }
}
