import { type AddressSet, formatAddress, type IpVersion } from '@rushhour/pools';
import type { Sources } from '@rushhour/protocol';

/** Addresses to send from, as an engine takes them. */
export type SourceAddresses = Pick<Sources, 'addresses' | 'networks' | 'ranges'>;

interface Run {
  readonly first: bigint;
  readonly last: bigint;
}

/** Most addresses an agent uses in one order, and most pieces they may be in. */
export const maxAddresses = 1_000_000;
const maxRuns = 10_000;
const maxCompared = 65_536;

/** Consecutive members of a set of addresses: what one agent has of a network. */
export class AddressShare {
  readonly #set: AddressSet;
  readonly #start: bigint;
  readonly size: bigint;

  constructor(set: AddressSet, start = 0n, size = set.size) {
    this.#set = set;
    this.#start = start;
    this.size = size;
  }

  get version(): IpVersion {
    return this.#set.version;
  }

  get isWhole(): boolean {
    return this.size === this.#set.size;
  }

  has(value: bigint): boolean {
    if (!this.#set.has(value)) return false;
    const index = this.#set.lowerBound(value);
    return index >= this.#start && index < this.#start + this.size;
  }

  /** The first of them, at most `limit`. */
  values(limit: number): bigint[] {
    return this.#set.values(this.#start, this.size < BigInt(limit) ? Number(this.size) : limit);
  }

  hosts(limit: number): string[] {
    return this.values(limit).map((value) => formatAddress(this.version, value));
  }

  get first(): bigint {
    return this.#set.valueAt(this.#start);
  }

  get last(): bigint {
    return this.#set.valueAt(this.#start + this.size - 1n);
  }

  /** Whether two shares have an address in common. Those that lie apart cost nothing; of others a bounded part is looked at. */
  meets(other: AddressShare): boolean {
    if (this.version !== other.version || this.last < other.first || other.last < this.first) return false;
    const [small, large] = this.size < other.size ? [this, other] : [other, this];
    return small.#valuesFrom(large.first, maxCompared).some((value) => large.has(value));
  }

  #valuesFrom(min: bigint, limit: number): bigint[] {
    const skipped = this.#set.lowerBound(min) - this.#start;
    if (skipped <= 0n) return this.values(limit);
    return new AddressShare(this.#set, this.#start + skipped, this.size - skipped).values(limit);
  }

  /** The addresses as an engine takes them, and their count: huge or scattered shares are cut. */
  sources(subnet: string): { sources: SourceAddresses; count: number } {
    if (this.isWhole && this.#isEveryHostOf(subnet)) {
      return { sources: { addresses: [], networks: [subnet], ranges: [] }, count: Number(this.size) };
    }
    const { ranges: all, count } = this.ranges();
    const isRange = (text: string) => text.includes('-');
    const addresses = all.filter((text) => !isRange(text));
    return { sources: { addresses, networks: [], ranges: all.filter(isRange) }, count };
  }

  /** Single addresses and ranges `first-last`, ascending, and their count: huge or scattered shares are cut. */
  ranges(): { ranges: string[]; count: number } {
    const ranges: string[] = [];
    let count = 0;
    for (const { first, last } of this.#runs()) {
      count += Number(last - first) + 1;
      const from = formatAddress(this.version, first);
      ranges.push(first === last ? from : `${from}-${formatAddress(this.version, last)}`);
    }
    return { ranges, count };
  }

  #isEveryHostOf(subnet: string): boolean {
    if (this.version === 6 || this.size > BigInt(maxAddresses)) return false;
    const prefix = Number(subnet.split('/')[1]);
    return this.size === 2n ** BigInt(32 - prefix) - (prefix < 31 ? 2n : 0n);
  }

  *#runs(): Generator<Run> {
    const end = this.#start + (this.size < BigInt(maxAddresses) ? this.size : BigInt(maxAddresses));
    let index = this.#start;
    for (let runs = 0; index < end && runs < maxRuns; runs++) {
      const length = this.#runLength(index, end - index);
      const first = this.#set.valueAt(index);
      yield { first, last: first + length - 1n };
      index += length;
    }
  }

  /** Members ascend, so a stretch without gaps is as long as value and index rise together: bisection finds its end. */
  #runLength(index: bigint, max: bigint): bigint {
    const first = this.#set.valueAt(index);
    let [low, high] = [1n, max];
    while (low < high) {
      const middle = (low + high + 1n) / 2n;
      if (this.#set.valueAt(index + middle - 1n) - first === middle - 1n) low = middle;
      else high = middle - 1n;
    }
    return low;
  }
}
