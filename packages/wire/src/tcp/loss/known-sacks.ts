import { isBefore } from '../segment/sequence.ts';
import { type SentSegment, sentMark } from './sent-segment.ts';

const maxBlocks = 4;

/** What earlier acknowledgements said, so that the scoreboard is not read from its beginning for each. */
export class KnownSacks {
  /** Starts and ends of the blocks of the acknowledgement before. */
  readonly #blocks = new Int32Array(maxBlocks * 2);
  #count = 0;
  /** Start of the block that grew last, and the last segment marked in it. */
  #start = 0;
  #marked: SentSegment | undefined;
  /** Everything up to this one is acknowledged selectively or lost. */
  #decided: SentSegment | undefined;

  /** True if a block tells nothing new. */
  has(start: number, end: number): boolean {
    for (let at = 0; at < this.#count * 2; at += 2)
      if (this.#blocks[at] === start && this.#blocks[at + 1] === end) return true;
    return false;
  }

  keep(sacks: Int32Array, count: number): void {
    this.#blocks.set(sacks);
    this.#count = count;
  }

  /** Where the marking of a block begins: behind what was marked in it before. */
  resume(head: SentSegment | undefined, start: number): SentSegment | undefined {
    const marked = this.#marked;
    const isGrown = marked !== undefined && !isBefore(start, this.#start) && !isBefore(marked.seq, start);
    return isGrown ? marked : head;
  }

  noteMarked(start: number, last: SentSegment): void {
    this.#start = start;
    this.#marked = last;
  }

  /** The first segment that may still count as lost without having been lost before. */
  undecided(head: SentSegment | undefined): SentSegment | undefined {
    let segment = this.#decided === undefined ? head : this.#decided.next;
    for (; segment !== undefined; segment = segment.next) {
      if ((segment.marks & (sentMark.sacked | sentMark.lost)) === 0) return segment;
      this.#decided = segment;
    }
    return undefined;
  }

  /** The segment is acknowledged and will be used again. */
  forget(segment: SentSegment): void {
    if (segment === this.#marked) this.#marked = undefined;
    if (segment === this.#decided) this.#decided = undefined;
  }

  clear(): void {
    this.#count = 0;
    this.#marked = undefined;
    this.#decided = undefined;
  }
}
