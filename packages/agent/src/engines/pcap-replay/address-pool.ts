import type { Sources } from '@rushhour/protocol';
import { addressToNumber, parseNetwork, parseRange } from '../../net/addresses/address-range.ts';

/** A range of consecutive addresses. */
interface Stretch {
  readonly first: bigint;
  readonly count: bigint;
}

const sizeOf = { 4: 4, 6: 16 } as const;

const stretchOf = (cidr: string): Stretch & { version: 4 | 6 } => {
  const { version, first, prefix, size } = parseNetwork(cidr);
  // Excludes network and broadcast address.
  const edge = version === 4 && prefix < 31 ? 1n : 0n;
  return { version, first: first + edge, count: size - 2n * edge };
};

const rangeOf = (text: string): Stretch & { version: 4 | 6 } => {
  const { version, first, last } = parseRange(text);
  return { version, first, count: last - first + 1n };
};

const bytesOf = (value: bigint, size: 4 | 16): Buffer => Buffer.from(value.toString(16).padStart(size * 2, '0'), 'hex');

/** Addresses of one side by index, computed without a table. */
export class AddressPool {
  readonly #stretches: Readonly<Record<4 | 16, readonly Stretch[]>>;

  constructor({ addresses, networks, ranges }: Pick<Sources, 'addresses' | 'networks' | 'ranges'>) {
    const single = addresses.map((address) => ({
      version: address.includes(':') ? (6 as const) : (4 as const),
      first: addressToNumber(address),
      count: 1n,
    }));
    const all = [...single, ...networks.map(stretchOf), ...ranges.map(rangeOf)];
    const of = (version: 4 | 6) => all.filter((stretch) => stretch.version === version);
    this.#stretches = { 4: of(4), 16: of(6) };
  }

  countOf(size: 4 | 16): bigint {
    return this.#stretches[size].reduce((sum, { count }) => sum + count, 0n);
  }

  /** Indexes wrap around; undefined when there is no address of this size. */
  find(index: number | bigint, size: 4 | 16): Buffer | undefined {
    const count = this.countOf(size);
    if (count === 0n) return undefined;
    let left = BigInt(index) % count;
    for (const stretch of this.#stretches[size]) {
      if (left < stretch.count) return bytesOf(stretch.first + left, size);
      left -= stretch.count;
    }
    return undefined;
  }

  has(address: string): boolean {
    const value = addressToNumber(address);
    const size = sizeOf[address.includes(':') ? 6 : 4];
    return this.#stretches[size].some(({ first, count }) => value >= first && value < first + count);
  }
}
