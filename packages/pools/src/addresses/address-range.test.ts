import { describe, expect, test } from 'vitest';
import { findSubnet, readRange, reservedOf } from './address-range.ts';

describe('ranges of addresses', () => {
  test('a subnet runs from its first to its last address', () => {
    expect(findSubnet('10.0.0.0/30')).toEqual({
      version: 4,
      first: 0x0a000000n,
      last: 0x0a000003n,
      prefixLength: 30,
      hasHostBits: false,
    });
    expect(findSubnet('10.0.0.1/30')?.hasHostBits).toBe(true);
    expect(findSubnet('::/0')).toMatchObject({ first: 0n, last: (1n << 128n) - 1n });
  });

  test.each(['10.0.0.0', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/08', '::/129', '/24', '10.0.0.0/24/24', 'x/8'])(
    '"%s" is no subnet',
    (text) => {
      expect(findSubnet(text)).toBeUndefined();
    },
  );

  test.each([
    ['10.0.0.0/24', [0x0a000000n, 0x0a0000ffn]],
    ['10.0.0.0/30', [0x0a000000n, 0x0a000003n]],
    ['10.0.0.0/31', []],
    ['10.0.0.0/32', []],
    ['2001:db8::/64', [0x20010db8n << 96n]],
    ['2001:db8::/126', [0x20010db8n << 96n]],
    ['2001:db8::/127', []],
    ['2001:db8::/128', []],
  ])('%s reserves what no host may use', (text, reserved) => {
    const subnet = findSubnet(text);
    expect(subnet && reservedOf(subnet).map((range) => range.first)).toEqual(reserved);
  });

  test('an address, first-last and a CIDR are ranges', () => {
    expect(readRange('10.0.0.7')).toMatchObject({ first: 0x0a000007n, last: 0x0a000007n });
    expect(readRange('10.0.0.7 - 10.0.0.9')).toMatchObject({ first: 0x0a000007n, last: 0x0a000009n });
    expect(readRange('fe80::/10')).toMatchObject({ version: 6, first: 0xfe80n << 112n });
  });

  test.each([
    ['10.0.0.9-10.0.0.7', 'RANGE_REVERSED'],
    ['10.0.0.9-::1', 'RANGE_INVALID'],
    ['10.0.0.5/24', 'HOST_BITS_SET'],
    ['10.0.0.0/99', 'RANGE_INVALID'],
    ['nonsense', 'RANGE_INVALID'],
    ['', 'RANGE_INVALID'],
  ])('"%s" is answered with %s', (text, code) => {
    expect(readRange(text)).toMatchObject({ code });
  });
});
