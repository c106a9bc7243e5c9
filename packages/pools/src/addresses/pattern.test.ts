import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findAddress } from './address.ts';
import { type AddressPattern, findPattern, intersectPatterns } from './pattern.ts';

function addressOf(text: string): bigint {
  return findAddress(text)?.value ?? -1n;
}

function parsePattern(text: string): AddressPattern {
  const pattern = findPattern(text);
  if (pattern === undefined) throw new Error(`${text} is not a pattern`);
  return pattern;
}

/** An octet of a pattern together with what it matches, worked out item by item. */
const octetItem = fc
  .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 255 }), fc.integer({ min: 1, max: 9 }))
  .chain(([a, b, step]) => {
    const [low, high] = [Math.min(a, b), Math.max(a, b)];
    return fc.constantFrom(
      { text: `${low}`, matches: (n: number) => n === low },
      { text: `${low}-${high}`, matches: (n: number) => n >= low && n <= high },
      { text: `${low}-${high}/${step}`, matches: (n: number) => n >= low && n <= high && (n - low) % step === 0 },
      { text: `*/${step}`, matches: (n: number) => n % step === 0 },
      { text: '*', matches: () => true },
    );
  });
const octet = fc.array(octetItem, { minLength: 1, maxLength: 3 }).map((items) => ({
  text: items.map((item) => item.text).join(','),
  matches: (n: number) => items.some((item) => item.matches(n)),
}));

describe('address patterns', () => {
  test('the two low octets of a pattern match what their items match, in order', () => {
    fc.assert(
      fc.property(octet, octet, fc.integer({ min: 0, max: 65_535 }), (third, fourth, probe) => {
        const pattern = parsePattern(`10.1.${third.text}.${fourth.text}`);
        const base = addressOf('10.1.0.0');
        const expected: bigint[] = [];
        for (let n = 0; n < 65_536; n++) {
          if (third.matches(n >> 8) && fourth.matches(n & 255)) expected.push(base + BigInt(n));
        }
        const first = pattern.rank(base);
        expect(pattern.rank(base + 65_536n) - first).toBe(BigInt(expected.length));
        for (let i = 0; i < expected.length; i += Math.ceil(expected.length / 50)) {
          expect(pattern.at(first + BigInt(i))).toBe(expected[i]);
        }
        const smaller = expected.filter((value) => value < base + BigInt(probe)).length;
        expect(pattern.rank(base + BigInt(probe)) - first).toBe(BigInt(smaller));
      }),
      { numRuns: 60 },
    );
  });

  test('an intersection matches what both match', () => {
    fc.assert(
      fc.property(octet, octet, (a, b) => {
        const both = intersectPatterns(parsePattern(`10.1.1.${a.text}`), parsePattern(`10.*.1.${b.text}`));
        const [from, to] = [addressOf('10.1.1.0'), addressOf('10.1.2.0')];
        const expected = Array.from({ length: 256 }, (_, n) => n).filter((n) => a.matches(n) && b.matches(n));
        const found = Number(both.rank(to) - both.rank(from));
        expect(Array.from({ length: found }, (_, i) => Number(both.at(BigInt(i)) & 255n))).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  test('hextets are hexadecimal and :: stands for zeros', () => {
    const pattern = parsePattern('2001:db8::*:1');
    expect(pattern.at(0n)).toBe(addressOf('2001:db8::1'));
    expect(pattern.at(0xffffn)).toBe(addressOf('2001:db8::ffff:1'));
    expect(pattern.rank(1n << 128n)).toBe(65_536n);
    const stepped = parsePattern('fd00::0-ff/10');
    expect(stepped.rank(1n << 128n)).toBe(16n);
    expect(stepped.at(15n)).toBe(addressOf('fd00::f0'));
  });

  test('a pattern of 2^96 addresses answers for any of them', () => {
    const pattern = parsePattern('2001:db8:*:*:*:*:*:*');
    expect(pattern.at(2n ** 96n - 1n)).toBe(addressOf('2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'));
    expect(pattern.rank(addressOf('2001:db8::1:0:0'))).toBe(2n ** 32n);
  });

  test.each([
    '',
    '10.0.0',
    '10.0.0.0.0',
    '10.0.0.256',
    '10.0.0.9-5',
    '10.0.0.1/0',
    '10.0.0.*-5',
    '10.0.0.1-2-3',
    '10.0.0.',
    '1:2::3::4',
    '2001:db8:*',
    '::12345',
    '10.0.0.ff',
    '*',
  ])('"%s" is no pattern', (text) => {
    expect(findPattern(text)).toBeUndefined();
  });
});
