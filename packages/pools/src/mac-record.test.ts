import { describe, expect, test } from 'vitest';
import { DraftError } from './issue.ts';
import { formatMac } from './mac.ts';
import { createMacBlock, issuesOfMac, macOfBlock } from './mac-record.ts';

describe('MAC records', () => {
  test('an address is itself', () => {
    const block = createMacBlock({ kind: 'address', address: '00-1B-21-00-00-07', count: 1 });
    expect(block.count).toBe(1);
    expect(formatMac(macOfBlock(block, 0))).toBe('00:1b:21:00:00:07');
    expect(() => macOfBlock(block, 1)).toThrow(RangeError);
  });

  test('a range counts up from its address', () => {
    const block = createMacBlock({ kind: 'range', address: '02:00:00:00:00:fe', count: 4 });
    expect([0, 1, 2, 3].map((i) => formatMac(macOfBlock(block, i)))).toEqual([
      '02:00:00:00:00:fe',
      '02:00:00:00:00:ff',
      '02:00:00:00:01:00',
      '02:00:00:00:01:01',
    ]);
  });

  test('an OUI is everything under it, or the first of it', () => {
    expect(createMacBlock({ kind: 'oui', address: '00:1b:21' }).count).toBe(2 ** 24);
    expect(createMacBlock({ kind: 'oui', address: '00:1b:21', count: 100 }).count).toBe(100);
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
  ])('%o is answered with %s', (record, expected) => {
    expect(issuesOfMac(record).map(({ path, code }) => `${path} ${code}`)).toEqual([expected]);
    expect(() => createMacBlock(record)).toThrow(DraftError);
  });
});
