import { findAddress, findIpVersion, formatAddress, type IpVersion } from '../addresses/address.ts';
import { findSubnet, readRange, reservedOf, type Subnet } from '../addresses/address-range.ts';
import { AddressSet } from '../addresses/address-set.ts';
import { type AddressPattern, findPattern } from '../addresses/pattern.ts';
import type { IssueList } from '../values/issue.ts';
import { mergeRanges, subtractRanges, type ValueRange } from '../values/value-range.ts';
import type { NetworkDraft } from './network-draft.ts';

/**
 * The client addresses of a network: those of the subnet that the pattern selects, without the reserved ones
 * (`reservedOf`), the excludes and the gateway.
 */
export interface NetworkAddresses {
  readonly subnet: Subnet;
  readonly clients: AddressSet;
  /** Ranges and pattern whose intersection is `clients`. */
  readonly ranges: readonly ValueRange[];
  readonly pattern: AddressPattern | undefined;
  /** Only if it is inside the subnet: an IPv6 gateway may be link-local. */
  readonly gateway: bigint | undefined;
}

export function readClients(draft: NetworkDraft, issues: IssueList): NetworkAddresses | undefined {
  const subnet = readSubnet(draft, issues);
  if (subnet === undefined) return undefined;
  const gateway = draft.gateway ? readGateway(draft.gateway, subnet, issues) : undefined;
  const holes = [...reservedOf(subnet), ...readExcludes(draft.excludes ?? [], subnet, issues)];
  if (gateway !== undefined) holes.push({ first: gateway, last: gateway });
  const pattern = draft.pattern ? readPattern(draft.pattern, subnet, issues) : undefined;
  const ranges = subtractRanges(subnet, mergeRanges(holes));
  const clients = new AddressSet(subnet.version, ranges, pattern);
  if (clients.size === 0n) issues.error('/subnet', 'NETWORK_EMPTY', 'no address is left for clients');
  return { subnet, clients, ranges, pattern, gateway };
}

const multicast = {
  4: { first: 0xe0000000n, last: 0xefffffffn },
  6: { first: 0xffn << 120n, last: (1n << 128n) - 1n },
};

function readSubnet(draft: NetworkDraft, issues: IssueList): Subnet | undefined {
  const version = draft.ipVersion ? findIpVersion(draft.ipVersion) : undefined;
  if (draft.ipVersion && version === undefined) {
    issues.error('/ipVersion', 'IP_VERSION_UNKNOWN', `"${draft.ipVersion}" is neither "4" nor "6"`);
  }
  const subnet = findSubnet(draft.subnet);
  if (subnet === undefined) {
    return issues.error('/subnet', 'SUBNET_INVALID', `"${draft.subnet}" is not a CIDR such as 10.0.0.0/24`);
  }
  if (version !== undefined && version !== subnet.version) {
    issues.error('/ipVersion', 'IP_VERSION_MISMATCH', `${draft.subnet} is IPv${subnet.version}`);
  }
  if (subnet.hasHostBits) {
    const meant = `${formatAddress(subnet.version, subnet.first)}/${subnet.prefixLength}`;
    issues.error('/subnet', 'HOST_BITS_SET', `"${draft.subnet}" has bits set beyond its prefix; ${meant} is meant?`);
  }
  if (subnet.first >= multicast[subnet.version].first && subnet.last <= multicast[subnet.version].last) {
    issues.error('/subnet', 'SUBNET_MULTICAST', `${draft.subnet} is a multicast range`);
  }
  return subnet;
}

function readGateway(text: string, subnet: Subnet, issues: IssueList): bigint | undefined {
  const gateway = findAddress(text.trim());
  if (gateway === undefined) return issues.error('/gateway', 'GATEWAY_INVALID', `"${text}" is not an IP address`);
  if (gateway.version !== subnet.version) {
    return issues.error('/gateway', 'GATEWAY_VERSION', `the gateway is IPv${gateway.version}, the subnet is not`);
  }
  if (!isInside(gateway.value, subnet)) {
    if (isLinkLocal(gateway.version, gateway.value)) return undefined;
    return issues.error('/gateway', 'GATEWAY_OUTSIDE_SUBNET', `${text} is not in the subnet`);
  }
  // The subnet-router anycast address is a router's address, so IPv6 allows it here.
  if (subnet.version === 4 && reservedOf(subnet).some((range) => range.first === gateway.value)) {
    issues.error('/gateway', 'GATEWAY_RESERVED', `${text} is the network or broadcast address`);
  }
  return gateway.value;
}

function readExcludes(texts: readonly string[], subnet: Subnet, issues: IssueList): ValueRange[] {
  const ranges: ValueRange[] = [];
  for (const [i, text] of texts.entries()) {
    const range = readRange(text);
    if ('code' in range) issues.error(`/excludes/${i}`, range.code, range.message);
    else if (range.version !== subnet.version || range.last < subnet.first || range.first > subnet.last) {
      issues.error(`/excludes/${i}`, 'EXCLUDE_OUTSIDE_SUBNET', `${text} is not in the subnet`);
    } else ranges.push(range);
  }
  return ranges;
}

function readPattern(text: string, subnet: Subnet, issues: IssueList): AddressPattern | undefined {
  const pattern = findPattern(text);
  if (pattern === undefined) {
    return issues.error(
      '/pattern',
      'PATTERN_INVALID',
      `"${text}" is not a pattern such as 10.0.*.1-50 or 2001:db8::*:1`,
    );
  }
  const isEmpty = pattern.rank(subnet.first) === pattern.rank(subnet.last + 1n);
  if (pattern.version !== subnet.version || isEmpty) {
    return issues.error('/pattern', 'PATTERN_EMPTY', `no address of the subnet matches "${text}"`);
  }
  return pattern;
}

function isInside(value: bigint, range: ValueRange): boolean {
  return value >= range.first && value <= range.last;
}

function isLinkLocal(version: IpVersion, value: bigint): boolean {
  return version === 6 && value >> 118n === 0x3fan;
}
