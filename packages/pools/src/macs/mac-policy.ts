import { formatAddress } from '../addresses/address.ts';
import type { Subnet } from '../addresses/address-range.ts';
import type { AddressSet } from '../addresses/address-set.ts';
import type { IssueList } from '../values/issue.ts';
import { createPermutation } from '../values/permutation.ts';
import { keyOf } from '../values/random.ts';
import { floorIndex, mergeRanges, type ValueRange } from '../values/value-range.ts';
import { findMacPrefix, formatMac, isMulticastMac, localSpace, type Mac, type MacPrefix, prefixSpace } from './mac.ts';
import { type MacReferences, readMacBlock, readUnicastMac } from './mac-reference.ts';

/**
 * How the addresses of a network get their MACs. The index is the position among the client addresses.
 * - `interface`: the network card's own, no MAC is planned.
 * - `shared`: one for all: `macId`, else `start`, else one drawn by `seed`.
 * - `perIp`: start + index · step, wrapping under `prefix` (without one, under the first octet of `start`).
 * - `derived`: `prefix` (default 02:00) followed by the low bits of the IP address, so 10.1.2.3 → 02:00:0a:01:02:03.
 * - `pool`: the addresses of the records `macIds`, ascending, overlaps counted once, starting over when used up.
 * - `random`: a keyed permutation of all addresses under `prefix`, or of all locally administered unicast ones.
 */
export interface MacPolicy {
  readonly mode: string;
  readonly prefix?: string | null | undefined;
  readonly start?: string | null | undefined;
  readonly step?: number | string | null | undefined;
  readonly macId?: number | null | undefined;
  readonly macIds?: readonly number[] | null | undefined;
  /** Without one the subnet is the seed. */
  readonly seed?: number | string | null | undefined;
}

export interface MacAssigner {
  /** How many indexes get MACs of their own; undefined where sharing is meant. */
  readonly distinct: bigint | undefined;
  macAt(index: bigint, address: bigint): Mac | null;
  /** The index that gets this MAC, as long as indexes stay below `distinct`. */
  findIndex(mac: Mac): bigint | undefined;
}

export interface MacScope extends MacReferences {
  readonly subnet: Subnet;
  readonly clients: AddressSet;
}

type Reader = (policy: MacPolicy, scope: MacScope) => MacAssigner | undefined;

const readers: Readonly<Record<string, Reader>> = {
  interface: () => ({ distinct: undefined, macAt: () => null, findIndex: () => undefined }),
  shared: readShared,
  perIp: readPerIp,
  derived: readDerived,
  pool: readPool,
  random: readRandom,
};

export function readMacPolicy(policy: MacPolicy, scope: MacScope): MacAssigner | undefined {
  const reader = Object.hasOwn(readers, policy.mode) ? readers[policy.mode] : undefined;
  if (reader === undefined) {
    const known = Object.keys(readers).join(', ');
    return scope.issues.error('/macPolicy/mode', 'MAC_MODE_UNKNOWN', `"${policy.mode}" is none of ${known}`);
  }
  const assigner = reader(policy, scope);
  if (assigner?.distinct !== undefined && assigner.distinct < scope.clients.size) {
    const code = policy.mode === 'pool' ? 'MAC_POOL_TOO_SMALL' : 'MAC_SPACE_TOO_SMALL';
    const message = `${assigner.distinct} MACs for ${scope.clients.size} addresses: they repeat`;
    scope.issues.warning('/macPolicy', code, message);
  }
  return assigner;
}

function readShared(policy: MacPolicy, scope: MacScope): MacAssigner | undefined {
  const mac = readSharedMac(policy, scope);
  return mac === undefined ? undefined : { distinct: undefined, macAt: () => mac, findIndex: () => undefined };
}

function readSharedMac(policy: MacPolicy, scope: MacScope): Mac | undefined {
  if (policy.macId) return readMacBlock(policy.macId, '/macPolicy/macId', scope)?.first;
  if (policy.start) return readUnicastMac(policy.start, '/macPolicy/start', scope.issues);
  return readRandom(policy, scope)?.macAt(0n, 0n) ?? undefined;
}

function readPerIp(policy: MacPolicy, scope: MacScope): MacAssigner | undefined {
  const prefix = readPrefix(policy, scope.issues);
  const start = policy.start ? readUnicastMac(policy.start, '/macPolicy/start', scope.issues) : prefix?.first;
  const step = readStep(policy.step ?? 1, scope.issues);
  if (prefix === undefined || start === undefined || step === undefined) return undefined;
  const block = policy.prefix ? prefix : { first: start - (start % 2 ** 40), freeBits: 40 };
  const span = 1n << BigInt(block.freeBits);
  const offset = BigInt(start - block.first);
  if (offset < 0n || offset >= span) {
    const message = `${formatMac(start)} is not under the prefix ${policy.prefix}`;
    return scope.issues.error('/macPolicy/start', 'MAC_START_OUTSIDE_PREFIX', message);
  }
  return {
    distinct: span / commonPower(step, span),
    macAt: (index) => block.first + Number((offset + index * step) % span),
    findIndex: (mac) => {
      const distance = ((BigInt(mac - start) % span) + span) % span;
      const isUnder = mac >= block.first && mac < block.first + Number(span);
      return isUnder && distance % step === 0n ? distance / step : undefined;
    },
  };
}

function readDerived(policy: MacPolicy, scope: MacScope): MacAssigner | undefined {
  const prefix = readPrefix({ ...policy, prefix: policy.prefix || '02:00' }, scope.issues);
  if (prefix === undefined) return undefined;
  const { subnet, clients } = scope;
  const span = 1n << BigInt(prefix.freeBits);
  const isUnique = subnet.last - subnet.first < span;
  return {
    distinct: isUnique ? clients.size : span,
    macAt: (_index, address) => prefix.first + Number(address % span),
    findIndex: (mac) => {
      if (mac < prefix.first || mac >= prefix.first + Number(span)) return undefined;
      const address = subnet.first - (subnet.first % span) + BigInt(mac - prefix.first);
      return clients.has(address) ? clients.lowerBound(address) : undefined;
    },
  };
}

function readPool(policy: MacPolicy, scope: MacScope): MacAssigner | undefined {
  const pool = readMacPool(policy.macIds ?? [], scope);
  if (pool === undefined) return undefined;
  return { distinct: pool.size, macAt: (index) => pool.at(index % pool.size), findIndex: (mac) => pool.findIndex(mac) };
}

function readRandom(policy: MacPolicy, scope: MacScope): MacAssigner | undefined {
  const prefix = readPrefix(policy, scope.issues);
  if (prefix === undefined) return undefined;
  const space = policy.prefix ? prefixSpace(prefix) : localSpace;
  const { version, first, prefixLength } = scope.subnet;
  const seed = policy.seed ?? `${formatAddress(version, first)}/${prefixLength}`;
  const permutation = createPermutation(space.size, keyOf(seed, 'mac'));
  return {
    distinct: space.size,
    macAt: (index) => space.at(Number(permutation.at(index % space.size))),
    findIndex: (mac) => {
      const position = space.find(mac);
      return position === undefined ? undefined : permutation.indexOf(BigInt(position));
    },
  };
}

/** Without a prefix: 02, the smallest locally administered unicast octet. */
function readPrefix(policy: MacPolicy, issues: IssueList): MacPrefix | undefined {
  const prefix = findMacPrefix(policy.prefix || '02');
  if (prefix === undefined) {
    return issues.error('/macPolicy/prefix', 'MAC_PREFIX_INVALID', `"${policy.prefix}" is not one to five octets`);
  }
  if (isMulticastMac(prefix.first)) {
    return issues.error('/macPolicy/prefix', 'MAC_MULTICAST', `"${policy.prefix}" is a multicast prefix`);
  }
  if (prefix.first === 0) {
    return issues.error('/macPolicy/prefix', 'MAC_ZERO', 'a prefix of zeros would give the all-zero MAC');
  }
  return prefix;
}

function readStep(text: number | string, issues: IssueList): bigint | undefined {
  const step = Number(text);
  if (Number.isSafeInteger(step) && step >= 1 && step < 2 ** 40) return BigInt(step);
  return issues.error('/macPolicy/step', 'MAC_STEP_INVALID', 'step must be a whole number from 1 to 2^40 - 1');
}

// The greatest common divisor with a power of two is the lowest set bit.
function commonPower(step: bigint, span: bigint): bigint {
  const lowest = step & -step;
  return lowest < span ? lowest : span;
}

/** Many MAC records as one ascending list without repetition. */
interface MacPool {
  readonly size: bigint;
  at(index: bigint): Mac;
  findIndex(mac: Mac): bigint | undefined;
}

function readMacPool(macIds: readonly number[], references: MacReferences): MacPool | undefined {
  if (macIds.length === 0) {
    return references.issues.error('/macPolicy/macIds', 'MAC_POOL_EMPTY', 'a pool needs at least one record');
  }
  const ranges: ValueRange[] = [];
  for (const [i, id] of macIds.entries()) {
    const block = readMacBlock(id, `/macPolicy/macIds/${i}`, references);
    if (block !== undefined) ranges.push({ first: BigInt(block.first), last: BigInt(block.first + block.count - 1) });
  }
  return ranges.length === 0 ? undefined : createMacPool(mergeRanges(ranges));
}

function createMacPool(ranges: readonly ValueRange[]): MacPool {
  const firsts = ranges.map((range) => range.first);
  const before: bigint[] = [];
  let size = 0n;
  for (const { first, last } of ranges) {
    before.push(size);
    size += last - first + 1n;
  }
  return {
    size,
    at: (index) => {
      const i = floorIndex(before, index);
      const range = ranges[i];
      if (range === undefined || index >= size) throw new RangeError(`no MAC ${index} in a pool of ${size}`);
      return Number(range.first + index - (before[i] as bigint));
    },
    findIndex: (mac) => {
      const i = floorIndex(firsts, BigInt(mac));
      const range = ranges[i];
      if (range === undefined || BigInt(mac) > range.last) return undefined;
      return (before[i] as bigint) + BigInt(mac) - range.first;
    },
  };
}
