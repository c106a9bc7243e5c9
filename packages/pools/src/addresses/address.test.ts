import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findAddress, findIpVersion, formatAddress, parseAddress } from './address.ts';

describe('addresses', () => {
  test.each([
    ['0.0.0.0', 4, 0n],
    ['255.255.255.255', 4, 0xffffffffn],
    ['10.0.0.1', 4, 0x0a000001n],
    ['::', 6, 0n],
    ['::1', 6, 1n],
    ['1::', 6, 1n << 112n],
    ['2001:DB8::8:800:200C:417A', 6, 0x20010db80000000000080800200c417an],
    ['::ffff:1.2.3.4', 6, 0xffff01020304n],
    ['64:ff9b::192.0.2.33', 6, 0x64ff9b0000000000000000c0000221n],
  ] as const)('%s is read', (text, version, value) => {
    expect(findAddress(text)).toEqual({ version, value });
  });

  test.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '01.2.3.4',
    '1..2.3',
    '1.2.3.4 ',
    '1.2.3.-4',
    '0x1.2.3.4',
    ':',
    ':::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    '1:2:3:4:5:6:7:',
    ':1:2:3:4:5:6:7',
    '12345::',
    'g::',
    '::1%eth0',
    '::1.2.3',
    '1.2.3.4::',
    '1:2:3:4:5:6:7::8:9',
    '1:2:3:4:5:6:7:1.2.3.4',
  ])('"%s" is refused', (text) => {
    expect(findAddress(text)).toBeUndefined();
    expect(() => parseAddress(text)).toThrow(RangeError);
  });

  test('reading agrees with node:net on texts that look like addresses', () => {
    const parts = fc.array(fc.constantFrom(':', '::', '.', '0', '1', 'ff', '12345', '255', '256', 'abcd', '00'), {
      maxLength: 18,
    });
    fc.assert(
      fc.property(
        parts.map((list) => list.join('')),
        (text) => {
          expect(findAddress(text)?.version).toBe(isIPv4(text) ? 4 : isIPv6(text) ? 6 : undefined);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('what is written is read back', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(4 as const, 6 as const),
        fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
        (version, bits) => {
          const value = version === 4 ? BigInt.asUintN(32, bits) : bits;
          expect(findAddress(formatAddress(version, value))).toEqual({ version, value });
        },
      ),
    );
  });

  test('IPv6 is written as URL does, with the longest run of zeros shortened', () => {
    const group = fc.constantFrom(0, 0, 0, 1, 0xff, 0x1234);
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const value = groups.reduce((sum, part) => (sum << 16n) | BigInt(part), 0n);
        const spelled = groups.map((part) => part.toString(16)).join(':');
        expect(`[${formatAddress(6, value)}]`).toBe(new URL(`http://[${spelled}]`).hostname);
      }),
    );
    expect(formatAddress(6, 0xffff01020304n)).toBe('::ffff:1.2.3.4');
  });

  test('the version has one canonical spelling and some accepted ones', () => {
    expect(['4', 'ipv4', 'IPv4', 'v4', 4].map(findIpVersion)).toEqual([4, 4, 4, 4, 4]);
    expect(['6', 'ipv6', 6].map(findIpVersion)).toEqual([6, 6, 6]);
    expect(['5', '', '46', 'ip'].map(findIpVersion)).toEqual([undefined, undefined, undefined, undefined]);
  });
});
