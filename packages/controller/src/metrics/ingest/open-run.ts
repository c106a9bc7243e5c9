import { clockNow } from '../../clock.ts';
import { Phases } from '../read/phases.ts';
import { type RunFacts, type Side, secondOf } from '../read/run-facts.ts';
import { lastOfMinute, MergedMinutes, minuteOf } from '../rollup/merged-minutes.ts';
import { phaseOf } from './cell.ts';
import type { NameBook } from './name-book.ts';
import type { Second } from './second.ts';

interface Range {
  from: number;
  to: number;
}

/** Sequence numbers that are there, as few ranges as possible. Most of the time it is one. */
export class SeqRanges {
  /** Ascending, never touching. */
  readonly #ranges: Range[] = [];

  has(seq: number): boolean {
    // New numbers come at the end: look there first.
    for (let i = this.#ranges.length - 1; i >= 0; i -= 1) {
      const { from, to } = this.#ranges[i] as Range;
      if (seq > to) return false;
      if (seq >= from) return true;
    }
    return false;
  }

  hasAll(from: number, to: number): boolean {
    return from > to || this.#ranges.some((range) => range.from <= from && range.to >= to);
  }

  /** How many numbers are there. */
  get count(): number {
    return this.#ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  }

  /** How many of the numbers 1 to `last` are missing. */
  missingUpTo(last: number): number {
    const there = this.#ranges.map(({ from, to }) => Math.max(0, Math.min(to, last) - from + 1));
    return last - there.reduce((sum, count) => sum + count, 0);
  }

  add(from: number, to = from): void {
    const ranges = this.#ranges;
    let at = ranges.length;
    while (at > 0 && (ranges[at - 1] as Range).to >= from - 1) at -= 1;
    let end = at;
    const merged = { from, to };
    while (end < ranges.length && (ranges[end] as Range).from <= to + 1) {
      merged.from = Math.min(merged.from, (ranges[end] as Range).from);
      merged.to = Math.max(merged.to, (ranges[end] as Range).to);
      end += 1;
    }
    ranges.splice(at, end - at, merged);
  }

  /** The highest number up to which none is missing, from 1 on; 0 when the first one is. */
  get contiguous(): number {
    const [first] = this.#ranges;
    return first !== undefined && first.from <= 1 ? first.to : 0;
  }
}

/** Seconds that are stored in one row for good: those with sequence numbers 1 to 60, 61 to 120 and so on. */
const secondsOfBlock = 60;
export const blockOf = (seq: number) => Math.floor((seq - 1) / secondsOfBlock);
export const firstOfBlock = (block: number) => block * secondsOfBlock + 1;
export const lastOfBlock = (block: number) => (block + 1) * secondsOfBlock;

const silentMs = 2500;
const lateStartMs = 5000;

/** What has come of one job. */
export interface Stream {
  readonly agentId: number;
  readonly order: number;
  readonly side: Side;
  readonly ranges: SeqRanges;
  /** Blocks with rows that are not whole yet. */
  readonly loose: Set<number>;
  lastSecond: number;
  /** Its time in that second, pieces added up. */
  spanMs: number;
  /** When something came last, on the clock of this machine. */
  arrivedAt: number;
}

/** A run in memory: all that is needed to take in samples and to read the latest of them. */
export class OpenRun {
  readonly facts: RunFacts;
  /** Replaced by a newer one when another controller has added names. */
  names: NameBook;
  readonly phases: Phases;
  /** Merged seconds that are not stored in this form. */
  readonly merged = new MergedMinutes();
  /** Minutes that are stored merged. */
  readonly rolled: Set<number>;
  readonly #streams = new Map<string, Stream>();
  /** Rises whenever a minute that was stored merged is opened again: what was computed from it is void. */
  reopenings = 0;
  /** False while those of stored minutes have not been read. */
  arePhasesKnown: boolean;
  usedAt = clockNow();
  readonly openedAt = clockNow();
  /** Seconds come in here. Otherwise another controller may know more, and looks after them. */
  isOurs = false;

  readonly #lastRolled: number;

  constructor(facts: RunFacts, names: NameBook, rolled: { minutes: Iterable<number>; lastSecond: number }) {
    this.facts = facts;
    this.names = names;
    this.phases = new Phases(facts);
    this.rolled = new Set(rolled.minutes);
    this.#lastRolled = rolled.lastSecond;
    this.arePhasesKnown = this.rolled.size === 0;
  }

  get streams(): IterableIterator<Stream> {
    return this.#streams.values();
  }

  /** Undefined when the run gave the agent no such job. */
  streamOf(agentId: number, jobIndex: number): Stream | undefined {
    const key = `${agentId}/${jobIndex}`;
    const known = this.#streams.get(key);
    if (known !== undefined) return known;
    const side = this.facts.agents.get(agentId)?.sides[jobIndex];
    if (side === undefined) return undefined;
    const ranges = new SeqRanges();
    const made: Stream = {
      agentId,
      order: jobIndex,
      side,
      ranges,
      loose: new Set(),
      lastSecond: 0,
      spanMs: 0,
      arrivedAt: 0,
    };
    this.#streams.set(key, made);
    return made;
  }

  /** Counts in a second that is on disk. */
  take(stream: Stream, given: Second): void {
    const second = secondOf(this.facts, given);
    const isMore = stream.lastSecond === second;
    const { group } = stream.side;
    stream.spanMs = given.spanMs + (isMore ? stream.spanMs : 0);
    const cell = this.merged.add(group, second, given, { names: this.names, isMore, jobSpanMs: stream.spanMs });
    this.phases.note(group, second, phaseOf(cell));
    stream.lastSecond = Math.max(stream.lastSecond, second);
  }

  /** Whether the second belongs to a minute that is stored merged already. */
  isRolled(given: Second): boolean {
    return this.rolled.has(minuteOf(secondOf(this.facts, given)));
  }

  /** The last second before which every minute is stored merged. */
  get lastOfRolled(): number {
    let minute = 0;
    while (this.rolled.has(minute)) minute += 1;
    return lastOfMinute(minute - 1);
  }

  /** The newest second of any job; 0 before the first. */
  get newestSecond(): number {
    let newest = this.#lastRolled;
    for (const { lastSecond } of this.#streams.values()) newest = Math.max(newest, lastSecond);
    return newest;
  }

  /** The newest second that every job has told of, those aside that have fallen silent. */
  settledSecond(now: number): number {
    let settled = Number.POSITIVE_INFINITY;
    let heard = 0;
    for (const { lastSecond, arrivedAt } of this.#streams.values()) {
      if (lastSecond > 0) heard += 1;
      if (now - arrivedAt <= silentMs) settled = Math.min(settled, lastSecond);
    }
    // At the beginning those that were not heard yet are late, not silent.
    if (heard < this.#jobCount && now - this.facts.t0 < lateStartMs) return 0;
    return Math.min(settled, this.newestSecond);
  }

  get #jobCount(): number {
    return [...this.facts.agents.values()].reduce((count, { sides }) => count + sides.length, 0);
  }
}
