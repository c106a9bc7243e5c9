import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress, parseAddress } from './ip-address.ts';

describe('addresses', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::', '::'],
    ['::1', '::1'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['fe80::', 'fe80::'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ])('%s is written %s', (text, canonical) => {
    const bytes = parseAddress(text);
    expect(formatAddress(bytes, 0, bytes.length === 4 ? 4 : 16)).toBe(canonical);
  });

  it('that are none are refused', () => {
    for (const text of [
      '',
      '1.2.3',
      '1.2.3.256',
      ':::',
      '1::2::3',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      'x::',
      '12345::',
    ]) {
      expect(() => parseAddress(text), text).toThrow('is not an IP address');
    }
  });

  it('survive writing and reading', () => {
    const word = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(fc.array(word, { minLength: 16, maxLength: 16 }), (values) => {
        const bytes = Uint8Array.from(values);
        expect(parseAddress(formatAddress(bytes, 0, 16))).toEqual(bytes);
      }),
    );
  });
});
