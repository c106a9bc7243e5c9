import { findAddress, type IpVersion } from './address.ts';
import { type AddressRange, findSubnet, readRange, reservedOf } from './address-range.ts';
import { AddressSet } from './address-set.ts';
import type { IssueList } from './issue.ts';
import { floorIndex, mergeRanges, subtractRanges } from './value-range.ts';

/** The addresses of one end of many tunnels, in the order they are written. */
export interface EndpointSide {
  readonly version: IpVersion;
  readonly size: bigint;
  at(index: bigint): string;
}

interface SideContext {
  readonly fallback: string | null | undefined;
  readonly fallbackPath: string;
  readonly issues: IssueList;
}

/** Items keep their order; an address listed twice is used twice. */
export function readSide(text: string, { fallback, fallbackPath, issues }: SideContext): EndpointSide | undefined {
  if (text.trim() === '') {
    const address = fallback ? findAddress(fallback.trim()) : undefined;
    if (address !== undefined) return new AddressSet(address.version, [{ first: address.value, last: address.value }]);
    const message = fallback
      ? `"${fallback}" is not an IP address`
      : 'endpoints leave this end out and it is not given';
    return issues.error(fallbackPath, 'ENDPOINT_MISSING', message);
  }
  const ranges: AddressSet[] = [];
  for (const item of text.split(',')) {
    const range = readRange(item.trim());
    if ('code' in range) issues.error('/endpoints', range.code, range.message);
    else ranges.push(hostsOf(item, range));
  }
  return joinSides(ranges, text, issues);
}

function hostsOf(item: string, range: AddressRange): AddressSet {
  const subnet = findSubnet(item);
  const holes = subnet === undefined ? [] : reservedOf(subnet);
  return new AddressSet(range.version, subtractRanges(range, mergeRanges(holes)));
}

function joinSides(sides: readonly AddressSet[], text: string, issues: IssueList): EndpointSide | undefined {
  const version = sides[0]?.version;
  if (version === undefined) return undefined;
  if (sides.some((side) => side.version !== version)) {
    return issues.error('/endpoints', 'ENDPOINTS_VERSION', `"${text.trim()}" mixes IPv4 and IPv6`);
  }
  const before: bigint[] = [];
  let size = 0n;
  for (const side of sides) {
    before.push(size);
    size += side.size;
  }
  const at = (index: bigint): string => {
    const i = floorIndex(before, index);
    return (sides[i] as AddressSet).at(index - (before[i] as bigint));
  };
  return { version, size, at };
}
