const half = 32_768;
/** So many late messages in a row mean that the peer has begun to count anew. */
const maxLateInRow = 8;

/** Numbers of the data messages of a session (RFC 2661, 5.4): what comes late is dropped, gaps are counted. */
export class DataSequence {
  readonly counters = { lost: 0, late: 0 };
  #next = 0;
  #expected = 0;
  #lateInRow = 0;

  /** The number of the next message. */
  take(): number {
    const number = this.#next;
    this.#next = (number + 1) & 0xffff;
    return number;
  }

  /** Whether a message is in order. */
  accept(number: number): boolean {
    const ahead = ((number - this.#expected + half) & 0xffff) - half;
    if (ahead < 0 && ++this.#lateInRow < maxLateInRow) {
      this.counters.late++;
      return false;
    }
    if (ahead > 0) this.counters.lost += ahead;
    this.#lateInRow = 0;
    this.#expected = (number + 1) & 0xffff;
    return true;
  }
}
