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
