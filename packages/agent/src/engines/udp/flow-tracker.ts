/** Number of recent sequence numbers in which duplicates are detected. */
const windowSize = 65_536;

/** Effect of one packet on its flow. */
export interface Arrival {
  readonly isDuplicate: boolean;
  readonly isReordered: boolean;
  /** Packets newly missing; −1 when a missing packet arrived late. */
  readonly lostChange: number;
  /** Change of the loss duration, in milliseconds of the sender's clock. */
  readonly lossMsChange: number;
  /** Interarrival jitter (RFC 3550) after this packet, in milliseconds. */
  readonly jitterMs: number;
}

/** Tracks the sequence numbers of one flow. */
export class FlowTracker {
  readonly #seen = new Uint32Array(windowSize / 32);
  #highest = -1;
  #highestSentAt = 0;
  #intervalMs = 0;
  #jitterMs = 0;
  #lastTransit: number | undefined;

  arrive(sequence: number, sentAt: number, receivedAt: number): Arrival {
    const jitterMs = this.#updateJitter(receivedAt - sentAt);
    if (sequence > this.#highest) return { ...this.#advance(sequence, sentAt), jitterMs };
    const isTooOld = sequence <= this.#highest - windowSize;
    if (!isTooOld && this.#has(sequence)) {
      return { isDuplicate: true, isReordered: false, lostChange: 0, lossMsChange: 0, jitterMs };
    }
    this.#mark(sequence);
    return { isDuplicate: false, isReordered: true, lostChange: -1, lossMsChange: -this.#intervalMs, jitterMs };
  }

  #advance(sequence: number, sentAt: number): Omit<Arrival, 'jitterMs'> {
    const steps = sequence - this.#highest;
    const lost = steps - 1;
    const isFirst = this.#highest < 0;
    const elapsed = sentAt - this.#highestSentAt;
    if (!isFirst) this.#intervalMs = elapsed / steps;
    this.#clear(this.#highest + 1, sequence);
    this.#mark(sequence);
    this.#highest = sequence;
    this.#highestSentAt = sentAt;
    const lossMsChange = isFirst ? 0 : (elapsed * lost) / steps;
    return { isDuplicate: false, isReordered: false, lostChange: lost, lossMsChange };
  }

  #updateJitter(transit: number): number {
    if (this.#lastTransit !== undefined) {
      this.#jitterMs += (Math.abs(transit - this.#lastTransit) - this.#jitterMs) / 16;
    }
    this.#lastTransit = transit;
    return this.#jitterMs;
  }

  #has(sequence: number): boolean {
    const bit = sequence % windowSize;
    return ((this.#seen[bit >>> 5] as number) & (1 << (bit & 31))) !== 0;
  }

  #mark(sequence: number): void {
    const bit = sequence % windowSize;
    this.#seen[bit >>> 5] = (this.#seen[bit >>> 5] as number) | (1 << (bit & 31));
  }

  /** Clears the window for the numbers from `first` up to `end`. */
  #clear(first: number, end: number): void {
    if (end - first >= windowSize) this.#seen.fill(0);
    else {
      for (let sequence = first; sequence <= end; sequence++) {
        const bit = sequence % windowSize;
        this.#seen[bit >>> 5] = (this.#seen[bit >>> 5] as number) & ~(1 << (bit & 31));
      }
    }
  }
}
