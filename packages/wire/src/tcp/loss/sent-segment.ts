/** Marks of a sent segment. */
export const sentMark = { sacked: 1, lost: 2, retransmitted: 4, everRetransmitted: 8, fin: 16, urgent: 32 } as const;

/** A sent segment that is not acknowledged. Its end counts a FIN. */
export class SentSegment {
  seq = 0;
  end = 0;
  /** Time of the last transmission, microseconds modulo 2^32. */
  sentAt = 0;
  marks = 0;
  next: SentSegment | undefined = undefined;
}

export class SentSegmentPool {
  inUse = 0;
  #free: SentSegment | undefined = undefined;

  take(seq: number, end: number, sentAt: number): SentSegment {
    const segment = this.#free ?? new SentSegment();
    this.#free = segment.next;
    segment.next = undefined;
    segment.seq = seq;
    segment.end = end;
    segment.sentAt = sentAt;
    segment.marks = 0;
    this.inUse++;
    return segment;
  }

  release(segment: SentSegment): void {
    this.inUse--;
    segment.next = this.#free;
    this.#free = segment;
  }
}
