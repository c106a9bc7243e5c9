import { findAddress, type IpVersion, readRange } from '@rushhour/pools';

interface Range {
  readonly version: IpVersion;
  readonly first: bigint;
  readonly last: bigint;
}

const mappedPrefix = 0xffffn << 32n;

/** An IPv4 address written as IPv6 reaches the IPv4 host and is judged as such. */
const plainAddress = (text: string): Range | undefined => {
  const address = findAddress(text);
  if (address === undefined) return undefined;
  const isMapped = address.version === 6 && address.value >> 32n === 0xffffn;
  const value = isMapped ? address.value - mappedPrefix : address.value;
  return { version: isMapped ? 4 : address.version, first: value, last: value };
};

const rangesOf = (texts: readonly string[]): Range[] =>
  texts.flatMap((text) => {
    const range = readRange(text);
    return 'code' in range ? [] : [range];
  });

const isWithin = (address: Range | undefined, ranges: readonly Range[]): boolean =>
  ranges.some(
    ({ version, first, last }) => version === address?.version && address.first >= first && address.last <= last,
  );

/** Metadata services of clouds are there. */
const linkLocal = rangesOf(['169.254.0.0/16', 'fe80::/10']);

/** Ranges that are not routed on the Internet: private, shared, for benchmarks and for documentation. */
const unrouted = rangesOf([
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', '100.64.0.0/10', '198.18.0.0/15'],
  ...['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', 'fc00::/7', '::1/128', '2001:db8::/32'],
]);

/**
 * Judges where traffic may go and servers may listen: in the ranges the settings allow, or at an address of an agent.
 * Agents name their addresses themselves, so only those that are not routed on the Internet count. Link-local addresses
 * are never allowed.
 */
export class TargetGuard {
  readonly #ranges: readonly Range[];
  readonly #agentAddresses: ReadonlySet<string>;
  /** Every client of an entry asks for the same hosts. */
  readonly #judged = new Map<string, boolean>();

  constructor(allowedTargets: readonly string[], agentAddresses: ReadonlySet<string>) {
    this.#ranges = rangesOf(allowedTargets);
    this.#agentAddresses = agentAddresses;
  }

  allows(host: string): boolean {
    const isAgent = this.#agentAddresses.has(host) && isWithin(plainAddress(host), unrouted);
    return isAgent || this.#isInRanges(host);
  }

  /** Whether all addresses between the first and the last are allowed. */
  allowsAll(range: Range): boolean {
    const { version, first, last } = range;
    const meetsLinkLocal = linkLocal.some((one) => one.version === version && first <= one.last && one.first <= last);
    return isWithin({ version, first, last }, this.#ranges) && !meetsLinkLocal;
  }

  /** The allowed targets of a job: the ranges of the settings, and single addresses of agents outside them. */
  listFor(hosts: Iterable<string>, allowedTargets: readonly string[]): string[] {
    const single = [...new Set(hosts)].filter((host) => findAddress(host) !== undefined && !this.#isInRanges(host));
    return [...allowedTargets, ...single.map((host) => `${host}/${host.includes(':') ? 128 : 32}`)];
  }

  #isInRanges(host: string): boolean {
    const known = this.#judged.get(host);
    if (known !== undefined) return known;
    const address = plainAddress(host);
    const judged = isWithin(address, this.#ranges) && !isWithin(address, linkLocal);
    this.#judged.set(host, judged);
    return judged;
  }
}
