import { floorIndex, type ValueRange } from '../values/value-range.ts';
import { findAddress, formatAddress, type IpVersion } from './address.ts';
import { type AddressOrder, everyAddress } from './pattern.ts';

interface Piece {
  readonly firstRank: bigint;
  readonly count: bigint;
}

/**
 * An ascending set of addresses described by ranges, and optionally by a pattern that selects inside them.
 * Every operation costs the logarithm of the number of ranges, whatever the number of addresses.
 */
export class AddressSet {
  readonly version: IpVersion;
  readonly size: bigint;
  readonly #order: AddressOrder;
  readonly #pieces: Piece[] = [];
  readonly #lasts: bigint[] = [];
  /** Members in front of each piece. */
  readonly #before: bigint[] = [];

  /** `ranges` are merged, see `mergeRanges`. */
  constructor(version: IpVersion, ranges: readonly ValueRange[], order: AddressOrder = everyAddress) {
    let size = 0n;
    for (const range of ranges) {
      const firstRank = order.rank(range.first);
      const count = order.rank(range.last + 1n) - firstRank;
      if (count === 0n) continue;
      this.#pieces.push({ firstRank, count });
      this.#lasts.push(range.last);
      this.#before.push(size);
      size += count;
    }
    this.version = version;
    this.size = size;
    this.#order = order;
  }

  /** Throws a RangeError outside 0 … size − 1. */
  at(index: bigint): string {
    return formatAddress(this.version, this.valueAt(index));
  }

  valueAt(index: bigint): bigint {
    if (index < 0n || index >= this.size) throw new RangeError(`no address ${index} in a set of ${this.size}`);
    const i = floorIndex(this.#before, index);
    return this.#order.at((this.#pieces[i] as Piece).firstRank + index - (this.#before[i] as bigint));
  }

  indexOf(text: string): bigint | undefined {
    const address = findAddress(text);
    if (address?.version !== this.version || !this.has(address.value)) return undefined;
    return this.lowerBound(address.value);
  }

  has(value: bigint): boolean {
    const piece = this.#pieces[floorIndex(this.#lasts, value - 1n) + 1];
    if (piece === undefined) return false;
    const rank = this.#order.rank(value);
    return rank >= piece.firstRank && this.#order.at(rank) === value;
  }

  /** Index of the first member ≥ value; `size` when there is none. */
  lowerBound(value: bigint): bigint {
    const i = floorIndex(this.#lasts, value - 1n) + 1;
    const piece = this.#pieces[i];
    if (piece === undefined) return this.size;
    const offset = this.#order.rank(value) - piece.firstRank;
    return (this.#before[i] as bigint) + (offset > 0n ? offset : 0n);
  }

  /** Up to `limit` members from index `start` on. */
  page(start: bigint, limit: number): string[] {
    return this.values(start, limit).map((value) => formatAddress(this.version, value));
  }

  values(start: bigint, limit: number): bigint[] {
    const found: bigint[] = [];
    if (start < 0n || start >= this.size) return found;
    let i = floorIndex(this.#before, start);
    let offset = start - (this.#before[i] as bigint);
    for (; i < this.#pieces.length; i++, offset = 0n) {
      const { firstRank, count } = this.#pieces[i] as Piece;
      for (; offset < count; offset++) {
        if (found.length === limit) return found;
        found.push(this.#order.at(firstRank + offset));
      }
    }
    return found;
  }
}
