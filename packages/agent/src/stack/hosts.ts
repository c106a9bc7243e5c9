import { createHostMacs, type MacRecord, type NetworkDraft, readRange } from '@rushhour/pools';
import type { HostStack, StackNetwork } from '@rushhour/protocol';
import { createRouter, type HostDirectory, type OnLinkPrefix, parseAddress, parseMac, vlanTags } from '@rushhour/wire';

const macBytes = 6;
/** Each host takes 6 bytes of memory for its MAC. */
const maxHosts = 4_000_000;

/** The hosts of a job as its engine uses them. */
export interface HostTable extends HostDirectory {
  readonly count: number;
  readonly version: 4 | 6;
  writeAddress(index: number, to: Int32Array, toAt: number): void;
  /** The host that the engine knows by this text, where that may differ from its address. */
  hostNamed?(text: string): number | undefined;
}

/** Consecutive addresses. All their words but the last are the same, or a range is split. */
interface HostRange {
  readonly first: Int32Array;
  readonly count: number;
  /** Index of the first host among all. */
  readonly index: number;
}

const lowWords = 2n ** 32n;

/** The hosts of a job: address i ↔ MAC i, found by arithmetic. */
export class Hosts implements HostTable {
  readonly count: number;
  readonly nextHop: HostDirectory['nextHop'];
  readonly #ranges: readonly HostRange[];
  readonly #macs: Uint8Array;
  readonly #tags: number;
  readonly tagTypes: number;

  /** `share`: which part of the hosts of every network. */
  constructor({ networks, vlan }: Pick<HostStack, 'networks' | 'vlan'>, interfaceMac: Uint8Array, share = wholeShare) {
    const parts = networks.map((network) => ({ network, ranges: partOf(rangesOf(network), share) }));
    const count = parts.reduce((sum, { ranges }) => sum + sizeOf(ranges), 0);
    if (count > maxHosts) throw new RangeError(`${count} emulated hosts; ${maxHosts} is the maximum of an agent`);
    this.count = count;
    this.#macs = new Uint8Array(count * macBytes);
    this.#tags = tagsOf(vlan);
    this.tagTypes = tagTypesOf(vlan);
    let index = 0;
    this.#ranges = parts.flatMap(({ network, ranges }) => {
      const macAt = macsOf(network);
      return ranges.map(({ first, size }) => {
        for (let i = 0; i < size; i++) this.#setMac(index + i, macAt(first + BigInt(i)), interfaceMac);
        const range = { first: wordsOf(first), count: size, index };
        index += size;
        return range;
      });
    });
    this.nextHop = createRouter(routesOf(networks));
  }

  get version(): 4 | 6 {
    return isV4((this.#ranges[0] as HostRange).first, 0) ? 4 : 6;
  }

  /** Where the addresses are, for filters. */
  get blocks(): readonly { readonly first: Int32Array; readonly count: number }[] {
    return this.#ranges;
  }

  indexOf(address: Int32Array, at: number): number {
    for (const { first, count, index } of this.#ranges) {
      if (address[at + 2] !== first[2] || address[at + 1] !== first[1] || address[at] !== first[0]) continue;
      const offset = ((address[at + 3] as number) - (first[3] as number)) >>> 0;
      if (offset < count) return index + offset;
    }
    return -1;
  }

  /** Writes the address of host `index`. */
  writeAddress(index: number, to: Int32Array, toAt: number): void {
    const range = this.#ranges.findLast((one) => one.index <= index) as HostRange;
    to.set(range.first, toAt);
    to[toAt + 3] = (range.first[3] as number) + (index - range.index);
  }

  sourceFor(index: number, like: Int32Array, likeAt: number, to: Int32Array, toAt: number): void {
    this.writeAddress(index, to, toAt);
    if (isV4(to, toAt) === isV4(like, likeAt)) return;
    const other = this.#ranges.find(({ first }) => isV4(first, 0) === isV4(like, likeAt));
    if (other !== undefined) to.set(other.first, toAt);
  }

  writeMac(index: number, bytes: Uint8Array, at: number): void {
    const from = index * macBytes;
    for (let i = 0; i < macBytes; i++) bytes[at + i] = this.#macs[from + i] as number;
  }

  tagsOf(): number {
    return this.#tags;
  }

  #setMac(host: number, mac: number | null, interfaceMac: Uint8Array): void {
    const at = host * macBytes;
    if (mac === null) {
      this.#macs.set(interfaceMac, at);
      return;
    }
    let rest = mac;
    for (let i = macBytes - 1; i >= 0; i--) {
      this.#macs[at + i] = rest % 256;
      rest = Math.floor(rest / 256);
    }
  }
}

const isV4 = (words: Int32Array, at: number): boolean => words[at] === 0 && words[at + 2] === 0xffff;

interface PlainRange {
  readonly first: bigint;
  readonly size: number;
}

const mappedPrefix = 0xffffn << 32n;

/** Ranges within which only the last word of an address differs. IPv4 addresses are mapped to IPv6. */
const rangesOf = ({ hosts }: StackNetwork): PlainRange[] =>
  hosts.flatMap((text) => {
    const range = readRange(text);
    if ('code' in range) throw new RangeError(`${text} is not an address or range: ${range.message}`);
    const ranges: PlainRange[] = [];
    for (let first = range.first; first <= range.last; ) {
      const end = (first / lowWords + 1n) * lowWords;
      const last = end <= range.last ? end - 1n : range.last;
      ranges.push({ first: range.version === 4 ? first + mappedPrefix : first, size: Number(last - first) + 1 });
      first = last + 1n;
    }
    return ranges;
  });

const wholeShare = { index: 0, count: 1 };

const sizeOf = (ranges: readonly PlainRange[]): number => ranges.reduce((sum, { size }) => sum + size, 0);

/** The share of one of several workers: consecutive hosts. */
const partOf = (ranges: readonly PlainRange[], { index, count }: typeof wholeShare): PlainRange[] => {
  const size = sizeOf(ranges);
  const from = Math.floor((size * index) / count);
  const to = Math.floor((size * (index + 1)) / count);
  let before = 0;
  return ranges.flatMap((range) => {
    const start = Math.max(from - before, 0);
    const end = Math.min(to - before, range.size);
    before += range.size;
    return start < end ? [{ first: range.first + BigInt(start), size: end - start }] : [];
  });
};

export const hostCountOf = (network: StackNetwork): number => sizeOf(rangesOf(network));

const wordsOf = (value: bigint): Int32Array =>
  Int32Array.from([96n, 64n, 32n, 0n], (shift) => Number(BigInt.asIntN(32, value >> shift)));

const macsOf = ({ macs }: StackNetwork): ((address: bigint) => number | null) => {
  if (macs === undefined) return () => null;
  const records = macs.records as (MacRecord & { id: number })[];
  const macAt = createHostMacs(macs.network as NetworkDraft, new Map(records.map((record) => [record.id, record])));
  return (address) => macAt(address >> 32n === 0xffffn ? address - mappedPrefix : address);
};

/** Tag control information of up to two tags, as `vlanTags` has it. */
const tagsOf = (vlan: HostStack['vlan']): number => {
  const tags = vlan.map(({ id, pcp }) => ({ id, priority: pcp }));
  const [outer, inner] = tags;
  if (outer === undefined) return 0;
  return inner === undefined ? vlanTags(outer) : vlanTags(inner, outer);
};

const tagTypesOf = (vlan: HostStack['vlan']): number => {
  const [outer = 0, inner = outer] = vlan.map(({ tpid }) => tpid);
  return (outer << 16) | inner;
};

export const prefixOf = (subnet: string): OnLinkPrefix => {
  const [address = '', bits] = subnet.split('/');
  const words = parseAddress(address);
  return { address: words, bits: Number(bits) + (address.includes(':') ? 0 : 96) };
};

const routesOf = (networks: readonly StackNetwork[]) => {
  const gatewayOf = (isV6: boolean) =>
    networks.find(({ gateway }) => gateway !== undefined && gateway.includes(':') === isV6)?.gateway;
  const [gateway4, gateway6] = [gatewayOf(false), gatewayOf(true)];
  return {
    onLink: networks.map(({ subnet }) => prefixOf(subnet)),
    gateway4: gateway4 === undefined ? undefined : parseAddress(gateway4),
    gateway6: gateway6 === undefined ? undefined : parseAddress(gateway6),
  };
};

/** Gateways whose MAC is given: nothing is asked for them. */
export const fixedGateways = (networks: readonly StackNetwork[]) =>
  networks.flatMap(({ gateway, gatewayMac }) =>
    gateway === undefined || gatewayMac === undefined
      ? []
      : [{ address: parseAddress(gateway), mac: parseMac(gatewayMac) }],
  );
