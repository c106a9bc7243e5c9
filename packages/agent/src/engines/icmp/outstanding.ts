const slots = 65_536;
const free = Number.NaN;

/** Messages that wait for an answer, by the 16 bits of their sequence number. */
export class Outstanding {
  readonly #sentAt = new Float64Array(slots).fill(free);
  readonly #identifiers = new Uint16Array(slots);
  readonly #targets = new Uint16Array(slots);
  /** Messages are numbered in the order they are sent, so the oldest is the first that can be given up. */
  #oldest = 0;
  #next = 0;
  count = 0;

  /** The sequence number of the next message; −1 while that of 65536 messages ago still waits. */
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

  /** When the message was sent that this is the answer to; NaN when none waits for it. */
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

  /** Gives up all that were sent before `time`. */
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
