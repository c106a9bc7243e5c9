import fc from 'fast-check';
import { expect, test } from 'vitest';
import { digitsOf } from './sequence.ts';

test('the digits of a number are those it is written with, at any length', () => {
  const radix = fc.integer({ min: 2, max: 36 });
  fc.assert(
    fc.property(radix, fc.bigInt({ min: 0n, max: 2n ** 300n }), fc.nat({ max: 5 }), (base, value, zeros) => {
      const text = '0'.repeat(zeros) + value.toString(base);
      const digits = [...text].map((digit) => Number.parseInt(digit, 36));
      expect(digitsOf(value, base, text.length)).toEqual(digits);
    }),
  );
});

test('an alphabet of one character has one text', () => {
  expect(digitsOf(0n, 1, 3)).toEqual([0, 0, 0]);
});
