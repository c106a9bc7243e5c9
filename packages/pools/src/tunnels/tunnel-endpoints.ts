import { findAddress, type IpVersion } from '../addresses/address.ts';
import { type AddressRange, findSubnet, readRange, reservedOf } from '../addresses/address-range.ts';
import { AddressSet } from '../addresses/address-set.ts';
import { type Issue, IssueList } from '../values/issue.ts';
import { floorIndex, mergeRanges, subtractRanges } from '../values/value-range.ts';

/** The members of a tunnel, or of `values`, that determine its endpoints. */
export interface TunnelEnds {
  readonly endpoints?: string | null | undefined;
  readonly clientIp?: string | null | undefined;
  readonly serverIp?: string | null | undefined;
  /** Tunnels wanted; 0 or absent: one per pair. */
  readonly count?: number | null | undefined;
}

export interface EndpointPair {
  readonly client: string;
  readonly server: string;
}

export interface EndpointPairs {
  /** Number of tunnels. */
  readonly count: bigint;
  /** Number of different pairs. */
  readonly pairCount: bigint;
  at(index: bigint): EndpointPair;
  first(limit: number): EndpointPair[];
}

interface Group {
  readonly clients: EndpointSide;
  readonly servers: EndpointSide;
  readonly size: bigint;
}

/**
 * `endpoints` = groups separated by ";". A group is `clients > servers`; both are comma lists of addresses,
 * `first-last` and CIDRs (whose reserved addresses do not count). The n-th client meets the n-th server, the shorter
 * side starting over: `10.0.0.1-10.0.0.50 > 10.9.0.1`, `10.0.0.0/28,10.0.1.5 > 10.1.0.0/28; 2001:db8::1 > 2001:db8::2`.
 * A side left out is `clientIp` or `serverIp`: `10.0.0.1-10.0.0.50` lists clients of `serverIp`, `> 10.1.0.0/28` the
 * servers of `clientIp`, and empty `endpoints` are that one pair. `count` beyond the pairs starts over with them.
 */
export function createEndpointPairs(ends: TunnelEnds): EndpointPairs {
  const issues = new IssueList();
  const groups = readGroups(ends, issues);
  issues.throwIfErrors();
  const before: bigint[] = [];
  let pairCount = 0n;
  for (const group of groups) {
    before.push(pairCount);
    pairCount += group.size;
  }
  const count = ends.count ? BigInt(ends.count) : pairCount;
  const at = (index: bigint): EndpointPair => {
    if (index < 0n || index >= count) throw new RangeError(`no tunnel ${index} of ${count}`);
    const pair = index % pairCount;
    const i = floorIndex(before, pair);
    const { clients, servers } = groups[i] as Group;
    const offset = pair - (before[i] as bigint);
    return { client: clients.at(offset % clients.size), server: servers.at(offset % servers.size) };
  };
  const first = (limit: number): EndpointPair[] =>
    Array.from({ length: Math.min(limit, Number(count)) }, (_, i) => at(BigInt(i)));
  return { count, pairCount, at, first };
}

export function issuesOfEndpoints(ends: TunnelEnds): Issue[] {
  const issues = new IssueList();
  const groups = readGroups(ends, issues);
  if (issues.hasErrors) return issues.issues;
  const pairCount = groups.reduce((sum, group) => sum + group.size, 0n);
  if (BigInt(ends.count ?? 0) > pairCount) {
    const message = `${ends.count} tunnels share ${pairCount} pairs of endpoints`;
    issues.warning('/count', 'ENDPOINTS_REPEAT', message);
  }
  return issues.issues;
}

function readGroups(ends: TunnelEnds, issues: IssueList): Group[] {
  const { count } = ends;
  if (count && (!Number.isSafeInteger(count) || count < 0)) {
    issues.error('/count', 'COUNT_INVALID', 'count must be a whole number');
  }
  const texts = (ends.endpoints ?? '').split(';').filter((text) => text.trim() !== '');
  const found = (texts.length === 0 ? [''] : texts).map((text) => readGroup(text, ends, issues));
  return found.filter((group) => group !== undefined);
}

function readGroup(text: string, ends: TunnelEnds, issues: IssueList): Group | undefined {
  const [clientText = '', serverText = '', ...more] = text.split('>');
  if (more.length > 0) return issues.error('/endpoints', 'ENDPOINTS_INVALID', `"${text.trim()}" has more than one ">"`);
  const clients = readSide(clientText, { fallback: ends.clientIp, fallbackPath: '/clientIp', issues });
  const servers = readSide(serverText, { fallback: ends.serverIp, fallbackPath: '/serverIp', issues });
  if (clients === undefined || servers === undefined) return undefined;
  if (clients.version !== servers.version) {
    return issues.error('/endpoints', 'ENDPOINTS_VERSION', `"${text.trim()}" joins IPv4 and IPv6 ends`);
  }
  const { size } = clients.size > servers.size ? clients : servers;
  if (clients.size === 1n && servers.size === 1n && clients.at(0n) === servers.at(0n)) {
    return issues.error('/endpoints', 'ENDPOINTS_EQUAL', `both ends are ${clients.at(0n)}`);
  }
  return { clients, servers, size };
}

/** The addresses of one end of many tunnels, in the order they are written. */
interface EndpointSide {
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
function readSide(text: string, { fallback, fallbackPath, issues }: SideContext): EndpointSide | undefined {
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
