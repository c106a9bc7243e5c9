import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findMac,
  findMacPrefix,
  formatMac,
  isLocalMac,
  isMulticastMac,
  macLimit,
  normaliseMac,
  parseMac,
} from './mac.ts';

describe('MAC addresses', () => {
  test.each([
    '02:1a:4c:00:00:01',
    '02-1A-4C-00-00-01',
    '021a.4c00.0001',
    '021a4c000001',
    '2:1a:4c:0:0:1',
    ' 02:1A:4c:00:00:01 ',
  ])('"%s" is 02:1a:4c:00:00:01', (text) => {
    expect(normaliseMac(text)).toBe('02:1a:4c:00:00:01');
  });

  test.each([
    '',
    '02:1a:4c:00:00',
    '02:1a:4c:00:00:01:02',
    '02:1a-4c:00:00:01',
    '02:1a:4c:00:00:0g',
    '021a4c00000',
    '02:1a:4c:00:00:001',
    '02:1a:4c:00:00-01',
  ])('"%s" is refused', (text) => {
    expect(findMac(text)).toBeUndefined();
    expect(() => parseMac(text)).toThrow(RangeError);
  });

  test('what is written is read back in every spelling', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: macLimit - 1 }), (mac) => {
        const text = formatMac(mac);
        expect(text).toBe(
          mac
            .toString(16)
            .padStart(12, '0')
            .replace(/(..)(?=.)/g, '$1:'),
        );
        expect(findMac(text)).toBe(mac);
        expect(findMac(text.replaceAll(':', '-').toUpperCase())).toBe(mac);
        expect(findMac(text.replaceAll(':', ''))).toBe(mac);
        expect(findMac(text.replaceAll(/0([0-9a-f])/g, '$1'))).toBe(mac);
      }),
    );
  });

  test('the first octet marks multicast and local addresses', () => {
    expect(['01:00:5e:00:00:01', 'ff:ff:ff:ff:ff:ff', '33:33:00:00:00:01'].map(parseMac).every(isMulticastMac)).toBe(
      true,
    );
    expect(['02:00:00:00:00:00', '00:1b:21:00:00:00', 'fe:ff:ff:ff:ff:ff'].map(parseMac).some(isMulticastMac)).toBe(
      false,
    );
    expect(isLocalMac(parseMac('02:00:00:00:00:00'))).toBe(true);
    expect(isLocalMac(parseMac('00:1b:21:00:00:00'))).toBe(false);
  });

  test('a prefix is one to five octets', () => {
    expect(findMacPrefix('02:1a:4c')).toEqual({ first: parseMac('02:1a:4c:00:00:00'), freeBits: 24 });
    expect(findMacPrefix('02-1A-4C-')).toEqual(findMacPrefix('021a4c'));
    expect(findMacPrefix('02')?.freeBits).toBe(40);
    expect(findMacPrefix('02:1a:4c:00:01')?.freeBits).toBe(8);
    expect(findMacPrefix('02:1a:4c:00:00:01')).toBeUndefined();
    expect(findMacPrefix('')).toBeUndefined();
    expect(findMacPrefix('zz')).toBeUndefined();
  });
});
