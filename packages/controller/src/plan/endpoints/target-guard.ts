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

/** Judges where traffic may go: into the ranges the settings allow, or to an agent. */
export class TargetGuard {
  readonly #ranges: readonly Range[];
  readonly #agentAddresses: ReadonlySet<string>;
  /** Every client of an entry asks for the same hosts. */
  readonly #judged = new Map<string, boolean>();

  constructor(allowedTargets: readonly string[], agentAddresses: ReadonlySet<string>) {
    this.#ranges = allowedTargets.flatMap((text) => {
      const range = readRange(text);
      return 'code' in range ? [] : [range];
    });
    this.#agentAddresses = agentAddresses;
  }

  allows(host: string): boolean {
    return this.#agentAddresses.has(host) || this.#isInRanges(host);
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
    const isInside = ({ version, first, last }: Range) =>
      version === address?.version && address.first >= first && address.last <= last;
    const judged = address !== undefined && this.#ranges.some(isInside);
    this.#judged.set(host, judged);
    return judged;
  }
}
