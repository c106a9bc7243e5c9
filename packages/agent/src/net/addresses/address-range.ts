import { isIPv4, isIPv6 } from 'node:net';

/** Rewrites a trailing dotted IPv4 address as two hexadecimal groups. */
const withoutDots = (address: string): string =>
  address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });

/** The address as an integer, for range arithmetic. */
export const addressToNumber = (address: string): bigint => {
  if (isIPv4(address)) return address.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
  if (!isIPv6(address)) throw new RangeError(`${address} is not an address`);
  const [head = '', tail] = withoutDots(address).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const filled =
    tail === undefined
      ? groups(head)
      : [...groups(head), ...Array(8 - groups(head).length - groups(tail).length).fill('0'), ...groups(tail)];
  return filled.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
};

export const numberToAddress = (value: bigint, version: 4 | 6): string => {
  if (version === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const groups = [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map((shift) => ((value >> shift) & 0xffffn).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
};

export interface Network {
  readonly version: 4 | 6;
  readonly first: bigint;
  readonly prefix: number;
  readonly size: bigint;
}

export const parseNetwork = (cidr: string): Network => {
  const [address = '', bits] = cidr.split('/');
  const version = isIPv6(address) ? 6 : 4;
  const width = version === 6 ? 128 : 32;
  const prefix = bits === undefined ? width : Number(bits);
  if (!Number.isInteger(prefix) || prefix < 0 || prefix > width) throw new RangeError(`${cidr} is not a network`);
  const size = 1n << BigInt(width - prefix);
  return { version, first: (addressToNumber(address) / size) * size, prefix, size };
};

/** The host addresses of a network, excluding network and broadcast address where there are such. At most `limit`. */
export const hostsOf = (network: Network, limit: number): string[] => {
  const hasEdges = network.version === 4 && network.prefix < 31;
  const first = network.first + (hasEdges ? 1n : 0n);
  const count = network.size - (hasEdges ? 2n : 0n);
  const length = Number(count < BigInt(limit) ? count : BigInt(limit));
  return Array.from({ length }, (_, index) => numberToAddress(first + BigInt(index), network.version));
};

export interface Range {
  readonly version: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

/** Parses `first-last`, both inclusive. */
export const parseRange = (text: string): Range => {
  const [from = '', to = ''] = text.split('-');
  const [first, last] = [addressToNumber(from), addressToNumber(to)];
  if (isIPv6(from) !== isIPv6(to) || first > last) throw new RangeError(`${text} is not a range of addresses`);
  return { version: isIPv6(from) ? 6 : 4, first, last };
};

/** The addresses of a range, both ends included. At most `limit`. */
export const addressesOf = ({ version, first, last }: Range, limit: number): string[] => {
  const count = last - first + 1n;
  const length = Number(count < BigInt(limit) ? count : BigInt(limit));
  return Array.from({ length }, (_, index) => numberToAddress(first + BigInt(index), version));
};

/** The smallest set of networks that covers exactly the range. */
export const networksOf = ({ version, first, last }: Range): string[] => {
  const networks: string[] = [];
  for (let next = first; next <= last; ) {
    let bits = 0n;
    const fits = (wider: bigint) => next % (1n << wider) === 0n && next + (1n << wider) - 1n <= last;
    while (fits(bits + 1n)) bits++;
    networks.push(`${numberToAddress(next, version)}/${(version === 6 ? 128n : 32n) - bits}`);
    next += 1n << bits;
  }
  return networks;
};
