import { type Issue, IssueList } from '../values/issue.ts';
import { findMac, findMacPrefix, isMulticastMac, type Mac, macLimit } from './mac.ts';

/** A stored MAC record: one address, `count` addresses from `address` on, or all addresses under an OUI. */
export interface MacRecord {
  readonly kind: string;
  readonly address: string;
  readonly count?: number | null | undefined;
}

export interface MacBlock {
  readonly first: Mac;
  readonly count: number;
}

/**
 * `range` needs a count. An `oui` of three to five octets means every address under it, or the first `count`.
 * Problems go to `issues` under `path`; the block must be unicast from end to end.
 */
export function readMacRecord(record: MacRecord, issues: IssueList, path = ''): MacBlock | undefined {
  const block = blockOf(record, issues, path);
  if (block === undefined) return undefined;
  const last = block.first + block.count - 1;
  if (last >= macLimit)
    return issues.error(`${path}/count`, 'MAC_RANGE_OVERFLOW', 'the range ends beyond ff:ff:ff:ff:ff:ff');
  if (isMulticastMac(block.first) || Math.floor(block.first / 2 ** 40) !== Math.floor(last / 2 ** 40)) {
    return issues.error(`${path}/address`, 'MAC_MULTICAST', `${record.address} is, or runs into, a multicast address`);
  }
  return block;
}

export function issuesOfMac(record: MacRecord): Issue[] {
  const issues = new IssueList();
  readMacRecord(record, issues);
  return issues.issues;
}

function blockOf(record: MacRecord, issues: IssueList, path: string): MacBlock | undefined {
  const { kind, address } = record;
  const count = record.count ?? undefined;
  if (count !== undefined && (!Number.isSafeInteger(count) || count < 0)) {
    return issues.error(`${path}/count`, 'MAC_COUNT_INVALID', 'count must be a whole number');
  }
  if (kind === 'oui') {
    const prefix = findMacPrefix(address);
    if (prefix === undefined || prefix.freeBits > 24) {
      return issues.error(`${path}/address`, 'OUI_INVALID', `"${address}" is not an OUI of three to five octets`);
    }
    if ((count ?? 0) > 2 ** prefix.freeBits) {
      return issues.error(`${path}/count`, 'MAC_RANGE_OVERFLOW', `an OUI has ${2 ** prefix.freeBits} addresses`);
    }
    return { first: prefix.first, count: count || 2 ** prefix.freeBits };
  }
  const first = findMac(address);
  if (first === undefined) return issues.error(`${path}/address`, 'MAC_INVALID', `"${address}" is not a MAC address`);
  if (kind === 'address') {
    if ((count ?? 0) > 1) return issues.error(`${path}/count`, 'MAC_COUNT_INVALID', 'an address counts one');
    return { first, count: 1 };
  }
  if (kind !== 'range')
    return issues.error(`${path}/kind`, 'MAC_KIND_UNKNOWN', `"${kind}" is not address, range or oui`);
  if (!count) return issues.error(`${path}/count`, 'MAC_COUNT_INVALID', 'a range needs a count of at least 1');
  return { first, count };
}
