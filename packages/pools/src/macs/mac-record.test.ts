import { describe, expect, test } from 'vitest';
import { IssueList } from '../values/issue.ts';
import { formatMac } from './mac.ts';
import { issuesOfMac, type MacRecord, readMacRecord } from './mac-record.ts';

const blockOf = (record: MacRecord) => readMacRecord(record, new IssueList());

describe('MAC records', () => {
  test('an address is a block of one', () => {
    const block = blockOf({ kind: 'address', address: '00-1B-21-00-00-07', count: 1 });
    expect([formatMac(block?.first ?? 0), block?.count]).toEqual(['00:1b:21:00:00:07', 1]);
  });

  test('a range starts at its address', () => {
    const block = blockOf({ kind: 'range', address: '02:00:00:00:00:fe', count: 4 });
    expect([formatMac(block?.first ?? 0), block?.count]).toEqual(['02:00:00:00:00:fe', 4]);
  });

  test('an OUI covers all addresses under it, or the first `count`', () => {
    expect(blockOf({ kind: 'oui', address: '00:1b:21' })?.count).toBe(2 ** 24);
    expect(blockOf({ kind: 'oui', address: '00:1b:21', count: 100 })?.count).toBe(100);
  });

  test.each([
    [{ kind: 'address', address: '01:00:5e:00:00:01' }, '/address MAC_MULTICAST'],
    [{ kind: 'address', address: 'x' }, '/address MAC_INVALID'],
    [{ kind: 'address', address: '02:00:00:00:00:01', count: 2 }, '/count MAC_COUNT_INVALID'],
    [{ kind: 'range', address: '02:00:00:00:00:01' }, '/count MAC_COUNT_INVALID'],
    [{ kind: 'range', address: '02:00:00:00:00:01', count: 1.5 }, '/count MAC_COUNT_INVALID'],
    [{ kind: 'range', address: '02:ff:ff:ff:ff:ff', count: 2 }, '/address MAC_MULTICAST'],
    [{ kind: 'range', address: 'fe:ff:ff:ff:ff:ff', count: 2 ** 40 + 2 }, '/count MAC_RANGE_OVERFLOW'],
    [{ kind: 'oui', address: '00:1b' }, '/address OUI_INVALID'],
    [{ kind: 'oui', address: '00:1b:21', count: 2 ** 24 + 1 }, '/count MAC_RANGE_OVERFLOW'],
    [{ kind: 'vendor', address: '02:00:00:00:00:01' }, '/kind MAC_KIND_UNKNOWN'],
  ])('%o is refused with %s', (record, expected) => {
    expect(issuesOfMac(record).map(({ path, code }) => `${path} ${code}`)).toEqual([expected]);
    expect(blockOf(record)).toBeUndefined();
  });
});
