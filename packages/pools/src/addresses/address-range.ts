import type { ValueRange } from '../values/value-range.ts';
import { addressBits, findAddress, type IpVersion } from './address.ts';

export interface AddressRange extends ValueRange {
  readonly version: IpVersion;
}

export interface Subnet extends AddressRange {
  readonly prefixLength: number;
  readonly hasHostBits: boolean;
}

/** A range that could not be read, and why. */
export interface RangeProblem {
  readonly code: string;
  readonly message: string;
}

/** `address/prefix`; a missing prefix is not guessed. With host bits set the range is still the whole subnet. */
export function findSubnet(text: string): Subnet | undefined {
  const slash = text.indexOf('/');
  const address = findAddress(text.slice(0, Math.max(0, slash)).trim());
  const prefix = text.slice(slash + 1).trim();
  const prefixLength = /^(?:0|[1-9]\d{0,2})$/.test(prefix) ? Number(prefix) : Number.POSITIVE_INFINITY;
  if (address === undefined || prefixLength > addressBits[address.version]) return undefined;
  const mask = (1n << BigInt(addressBits[address.version] - prefixLength)) - 1n;
  const first = address.value & ~mask;
  return {
    version: address.version,
    first,
    last: first | mask,
    prefixLength,
    hasHostBits: first !== address.value,
  };
}

/**
 * Addresses of a subnet that hosts must not use: network and broadcast address of an IPv4 subnet larger than a /31
 * (RFC 3021), the subnet-router anycast address of an IPv6 subnet larger than a /127 (RFC 6164).
 */
export function reservedOf(subnet: Subnet): ValueRange[] {
  if (subnet.prefixLength >= addressBits[subnet.version] - 1) return [];
  const network = { first: subnet.first, last: subnet.first };
  return subnet.version === 6 ? [network] : [network, { first: subnet.last, last: subnet.last }];
}

/** One address, `first-last` or a CIDR: the three spellings of `excludes` and tunnel endpoints. */
export function readRange(text: string): AddressRange | RangeProblem {
  if (text.includes('/')) return readCidr(text);
  const dash = text.indexOf('-');
  if (dash < 0) {
    const address = findAddress(text.trim());
    if (address === undefined) return unreadable(text);
    return { version: address.version, first: address.value, last: address.value };
  }
  const first = findAddress(text.slice(0, dash).trim());
  const last = findAddress(text.slice(dash + 1).trim());
  if (first === undefined || last === undefined || first.version !== last.version) return unreadable(text);
  if (first.value > last.value) return { code: 'RANGE_REVERSED', message: `"${text}" ends before it begins` };
  return { version: first.version, first: first.value, last: last.value };
}

function readCidr(text: string): AddressRange | RangeProblem {
  const subnet = findSubnet(text);
  if (subnet === undefined) return unreadable(text);
  if (subnet.hasHostBits) return { code: 'HOST_BITS_SET', message: `"${text}" has bits set beyond its prefix` };
  return subnet;
}

function unreadable(text: string): RangeProblem {
  return { code: 'RANGE_INVALID', message: `"${text}" is neither an address, nor first-last, nor a CIDR` };
}
