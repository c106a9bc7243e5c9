/** Missing numbers that are remembered for a stream: later ones can still be told from duplicates. */
const maxMissing = 4096;

/** What a frame means for its stream. */
export type Arrival = 'next' | 'late' | 'duplicate';

/** Follows the sequence numbers of one stream. Small while nothing is missing, for there may be a million of them. */
export class SequenceTracker {
  #highest = -1;
  #missing: Set<number> | undefined;
  #transitUs = Number.NaN;
  /** Interarrival jitter by RFC 3550. */
  jitterUs = 0;
  /** Frames missing before the last one that was `next`. */
  gap = 0;

  arrive(sequence: number, transitUs: number): Arrival {
    if (!Number.isNaN(this.#transitUs)) this.jitterUs += (Math.abs(transitUs - this.#transitUs) - this.jitterUs) / 16;
    this.#transitUs = transitUs;
    if (sequence > this.#highest) {
      this.gap = sequence - this.#highest - 1;
      if (this.gap > 0) this.#miss(sequence);
      this.#highest = sequence;
      return 'next';
    }
    return this.#missing?.delete(sequence) === true ? 'late' : 'duplicate';
  }

  #miss(before: number): void {
    this.#missing ??= new Set();
    for (let number = Math.max(this.#highest + 1, before - maxMissing); number < before; number++)
      this.#missing.add(number);
    for (const oldest of this.#missing) {
      if (this.#missing.size <= maxMissing) return;
      this.#missing.delete(oldest);
    }
  }
}
