import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressesOf,
  addressToNumber,
  hostsOf,
  networksOf,
  numberToAddress,
  parseNetwork,
  parseRange,
} from './address-range.ts';

describe('address range', () => {
  it('formats every address as it was parsed', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(numberToAddress(addressToNumber(address), 4)).toBe(address);
      }),
    );
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), (value) => {
        expect(addressToNumber(numberToAddress(value, 6))).toBe(value);
      }),
    );
  });

  it('excludes network and broadcast address only where there are such', () => {
    expect(hostsOf(parseNetwork('10.0.0.77/30'), 10)).toEqual(['10.0.0.77', '10.0.0.78']);
    expect(hostsOf(parseNetwork('10.0.0.4/31'), 10)).toEqual(['10.0.0.4', '10.0.0.5']);
    expect(hostsOf(parseNetwork('10.0.0.4'), 10)).toEqual(['10.0.0.4']);
    expect(hostsOf(parseNetwork('fd00::/127'), 10)).toEqual(['fd00::', 'fd00::1']);
  });

  it('stops at the limit', () => {
    expect(hostsOf(parseNetwork('10.0.0.0/8'), 1000)).toHaveLength(1000);
  });

  it('rejects invalid networks', () => {
    expect(() => parseNetwork('10.0.0.0/33')).toThrow('is not a network');
    expect(() => parseNetwork('hello/8')).toThrow('is not an address');
  });

  it('parses inclusive ranges', () => {
    expect(addressesOf(parseRange('10.0.0.254-10.0.1.1'), 10)).toEqual([
      '10.0.0.254',
      '10.0.0.255',
      '10.0.1.0',
      '10.0.1.1',
    ]);
    expect(addressesOf(parseRange('fd00::-fd00::ffff'), 2)).toEqual(['fd00::', 'fd00::1']);
    expect(() => parseRange('10.0.0.2-10.0.0.1')).toThrow('is not a range');
    expect(() => parseRange('10.0.0.2-fd00::1')).toThrow('is not a range');
  });

  it('covers a range by networks, each address once', () => {
    expect(networksOf(parseRange('10.0.0.1-10.0.0.6'))).toEqual([
      '10.0.0.1/32',
      '10.0.0.2/31',
      '10.0.0.4/31',
      '10.0.0.6/32',
    ]);
    expect(networksOf(parseRange('0.0.0.0-255.255.255.255'))).toEqual(['0.0.0.0/0']);
    const address = fc.bigInt({ min: 0n, max: 0xffffffffn });
    fc.assert(
      fc.property(address, address, (a, b) => {
        const [first = 0n, last = 0n] = [a, b].sort((left, right) => (left < right ? -1 : 1));
        const range = { version: 4 as const, first, last };
        let next = range.first;
        for (const cidr of networksOf(range)) {
          const network = parseNetwork(cidr);
          expect(network.first).toBe(next);
          next += network.size;
        }
        expect(next).toBe(range.last + 1n);
      }),
    );
  });
});
