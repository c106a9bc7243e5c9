import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressToNumber, hostsOf, numberToAddress, parseNetwork } from './address-range.ts';

describe('address range', () => {
  it('writes every address as it was read', () => {
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

  it('leaves out the edges of a network only where it has them', () => {
    expect(hostsOf(parseNetwork('10.0.0.77/30'), 10)).toEqual(['10.0.0.77', '10.0.0.78']);
    expect(hostsOf(parseNetwork('10.0.0.4/31'), 10)).toEqual(['10.0.0.4', '10.0.0.5']);
    expect(hostsOf(parseNetwork('10.0.0.4'), 10)).toEqual(['10.0.0.4']);
    expect(hostsOf(parseNetwork('fd00::/127'), 10)).toEqual(['fd00::', 'fd00::1']);
  });

  it('stops at the limit', () => {
    expect(hostsOf(parseNetwork('10.0.0.0/8'), 1000)).toHaveLength(1000);
  });

  it('refuses what is no network', () => {
    expect(() => parseNetwork('10.0.0.0/33')).toThrow('is no network');
    expect(() => parseNetwork('hello/8')).toThrow('is no address');
  });
});
