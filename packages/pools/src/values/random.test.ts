import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bitsOf, integerBelow, keyOf, subkeyOf, unitOf, wordOf } from './random.ts';

/** Chi-square of counts that should all be equal. */
function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

describe('counter-based randomness', () => {
  test('treats seeds with the same text as equal', () => {
    expect(keyOf(7)).toEqual(keyOf('7'));
    expect(keyOf(7)).toEqual(keyOf(7n));
    expect(keyOf(7)).not.toEqual(keyOf(8));
    expect(keyOf('ab', 'c')).not.toEqual(keyOf('a', 'bc'));
  });

  test('yields the same words on every machine', () => {
    const key = keyOf('rushhour', 'check', 5);
    expect([0, 1, 2].map((i) => wordOf(key, i))).toEqual([3171925664, 4071680020, 1980494295]);
  });

  test('distinguishes counters beyond 32 bits', () => {
    const key = keyOf(1);
    expect(subkeyOf(key, 1)).not.toEqual(subkeyOf(key, 1 + 2 ** 32));
  });

  test('stays below the bound, at every size', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 130n }), fc.integer(), (size, seed) => {
        const value = integerBelow(keyOf(seed), size);
        expect(value).toBeLessThan(size);
        expect(value).toBeGreaterThanOrEqual(0n);
      }),
    );
  });

  test.each([10n, 1000n, 10n ** 20n])('spreads evenly below %s', (size) => {
    const counts = new Array<number>(10).fill(0);
    const key = keyOf('spread');
    for (let i = 0; i < 20_000; i++) {
      const bucket = Number((integerBelow(subkeyOf(key, i), size) * 10n) / size);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    // 27.9 is the 99.9 % point of nine degrees of freedom.
    expect(chiSquare(counts)).toBeLessThan(27.9);
  });

  test('changes about half the bits with one bit of the counter', () => {
    const key = keyOf('avalanche');
    let changed = 0;
    for (let i = 0; i < 2000; i++) {
      const difference = (wordOf(key, i) ^ wordOf(key, i ^ (1 << (i % 31)))) >>> 0;
      changed += difference.toString(2).replaceAll('0', '').length;
    }
    expect(changed / 2000).toBeGreaterThan(15.5);
    expect(changed / 2000).toBeLessThan(16.5);
  });

  test('gives units in [0, 1) and as many bits as asked', () => {
    for (let i = 0; i < 1000; i++) {
      const unit = unitOf(subkeyOf(keyOf(2), i));
      expect(unit >= 0 && unit < 1).toBe(true);
    }
    expect(bitsOf(keyOf(3), 100) >> 64n).not.toBe(0n);
    expect(bitsOf(keyOf(3), 100) >> 128n).toBe(0n);
  });
});
