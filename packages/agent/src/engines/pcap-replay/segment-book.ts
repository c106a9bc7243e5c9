import type { ReplaySegment } from '@rushhour/pcap';

interface Known {
  readonly key: number;
  readonly length: number;
}

const placeOf = (sequence: number, acknowledgement: number): number =>
  (sequence >>> 0) * 0x20_0000 + (acknowledgement & 0x1f_ffff);

/** Finds the segments that a receiving card has put together (GRO), by their numbers. */
export class SegmentBook {
  readonly #known = new Map<number, Known>();

  add({ sequence, acknowledgement, length }: ReplaySegment, key: number): void {
    const place = placeOf(sequence, acknowledgement);
    if (!this.#known.has(place)) this.#known.set(place, { key, length });
  }

  /** Keys of the segments that make up a longer one, in order, as far as they are known. */
  *partsOf({ sequence, acknowledgement, length }: ReplaySegment): Generator<number> {
    for (let offset = 0; offset < length; ) {
      const known = this.#known.get(placeOf(sequence + offset, acknowledgement));
      if (known === undefined || offset + known.length > length) return;
      yield known.key;
      offset += known.length;
    }
  }
}
