import type { ReplaySegment } from '@rushhour/pcap';

interface Segment {
  readonly key: number;
  readonly length: number;
}

const positionOf = (sequence: number, acknowledgement: number): number =>
  (sequence >>> 0) * 0x20_0000 + (acknowledgement & 0x1f_ffff);

/** Finds the original segments of frames coalesced by the receiver (GRO). */
export class SegmentIndex {
  readonly #known = new Map<number, Segment>();

  add({ sequence, acknowledgement, length }: ReplaySegment, key: number): void {
    const position = positionOf(sequence, acknowledgement);
    if (!this.#known.has(position)) this.#known.set(position, { key, length });
  }

  /** Keys of the segments contained in a coalesced one, in order, as far as known. */
  *partsOf({ sequence, acknowledgement, length }: ReplaySegment): Generator<number> {
    for (let offset = 0; offset < length; ) {
      const known = this.#known.get(positionOf(sequence + offset, acknowledgement));
      if (known === undefined || offset + known.length > length) return;
      yield known.key;
      offset += known.length;
    }
  }
}
