const slots = 65_536;
const free = Number.NaN;

/** Echo requests in flight, indexed by their 16-bit sequence number. */
export class Outstanding {
  readonly #sentAt = new Float64Array(slots).fill(free);
  readonly #identifiers = new Uint16Array(slots);
  readonly #targets = new Uint16Array(slots);
  /** Sequence numbers follow the order of sending, so the oldest request expires first. */
  #oldest = 0;
  #next = 0;
  count = 0;

  /** The sequence number of the next request; −1 while the request sent 65536 numbers ago is still in flight. */
  begin(target: number, identifier: number, now: number): number {
    const sequence = this.#next & 0xffff;
    if (!Number.isNaN(this.#sentAt[sequence])) return -1;
    this.#sentAt[sequence] = now;
    this.#identifiers[sequence] = identifier;
    this.#targets[sequence] = target;
    this.#next++;
    this.count++;
    return sequence;
  }

  /** Send time of the request this answers; NaN when none is in flight. */
  settle(sequence: number, identifier: number): number {
    const sentAt = this.#sentAt[sequence] as number;
    if (Number.isNaN(sentAt) || (identifier >= 0 && this.#identifiers[sequence] !== identifier)) return free;
    this.#sentAt[sequence] = free;
    this.count--;
    return sentAt;
  }

  targetOf(sequence: number): number {
    return this.#targets[sequence] as number;
  }

  /** Expires all requests sent before `time`. */
  expire(time: number, onLost: (target: number) => void): void {
    for (; this.#oldest < this.#next; this.#oldest++) {
      const sequence = this.#oldest & 0xffff;
      const sentAt = this.#sentAt[sequence] as number;
      if (sentAt >= time) return;
      if (Number.isNaN(sentAt)) continue;
      this.#sentAt[sequence] = free;
      this.count--;
      onLost(this.targetOf(sequence));
    }
  }
}
