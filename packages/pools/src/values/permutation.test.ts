import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPermutation } from './permutation.ts';
import { keyOf } from './random.ts';

describe('keyed permutations', () => {
  test('are bijections of any size', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 600 }), fc.integer(), (size, seed) => {
        const permutation = createPermutation(BigInt(size), keyOf(seed));
        const images = Array.from({ length: size }, (_, i) => permutation.at(BigInt(i)));
        expect(images.toSorted((a, b) => Number(a - b))).toEqual(images.map((_, i) => BigInt(i)));
        for (const [i, image] of images.entries()) expect(permutation.indexOf(image)).toBe(BigInt(i));
      }),
    );
  });

  test('are inverted exactly at sizes beyond any table', () => {
    const size = fc.bigInt({ min: 2n ** 40n, max: 2n ** 200n });
    fc.assert(
      fc.property(size, fc.bigInt({ min: 0n, max: 2n ** 200n }), fc.integer(), (limit, drawn, seed) => {
        const permutation = createPermutation(limit, keyOf(seed));
        const image = permutation.at(drawn % limit);
        expect(image).toBeLessThan(limit);
        expect(image).toBeGreaterThanOrEqual(0n);
        expect(permutation.indexOf(image)).toBe(drawn % limit);
      }),
    );
  });

  test('reach all orders of three, about equally often', () => {
    const counts = new Map<string, number>();
    for (let seed = 0; seed < 6000; seed++) {
      const permutation = createPermutation(3n, keyOf(seed));
      const order = [0n, 1n, 2n].map((i) => permutation.at(i)).join();
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    for (const count of counts.values()) {
      expect(count).toBeGreaterThan(700);
      expect(count).toBeLessThan(1300);
    }
  });

  test('of nothing do not exist', () => {
    expect(() => createPermutation(0n, keyOf(1))).toThrow(RangeError);
  });
});
