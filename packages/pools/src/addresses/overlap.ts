import { readClients } from '../networks/network-addresses.ts';
import type { NetworkDraft } from '../networks/network-draft.ts';
import { IssueList } from '../values/issue.ts';
import { intersectRanges } from '../values/value-range.ts';
import { formatAddress } from './address.ts';
import { AddressSet } from './address-set.ts';
import { intersectPatterns } from './pattern.ts';

export interface Overlap {
  /** How many client addresses two networks share. */
  readonly count: bigint;
  readonly first: string;
  readonly last: string;
}

/**
 * Exact, patterns and excludes included, and never expanded. An invalid network shares nothing; its own issues report
 * why.
 */
export function overlapOf(a: NetworkDraft, b: NetworkDraft): Overlap | undefined {
  const left = readClients(a, new IssueList());
  const right = readClients(b, new IssueList());
  if (left === undefined || right === undefined || left.subnet.version !== right.subnet.version) return undefined;
  const pattern =
    left.pattern && right.pattern ? intersectPatterns(left.pattern, right.pattern) : (left.pattern ?? right.pattern);
  const { version } = left.subnet;
  const shared = new AddressSet(version, intersectRanges(left.ranges, right.ranges), pattern);
  if (shared.size === 0n) return undefined;
  return {
    count: shared.size,
    first: shared.at(0n),
    last: formatAddress(version, shared.valueAt(shared.size - 1n)),
  };
}
