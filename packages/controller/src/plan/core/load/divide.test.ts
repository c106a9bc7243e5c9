import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideRate, divideWhole } from './divide.ts';

const sum = (parts: readonly number[]) => parts.reduce((total, part) => total + part, 0);
const weights = fc.array(fc.double({ min: 0.001, max: 1_000_000, noNaN: true }), { minLength: 1, maxLength: 50 });

describe('division by weight', () => {
  it.each([
    [10, [1, 1], [5, 5]],
    [10, [1, 1, 1], [3, 4, 3]],
    [10, [3, 1], [8, 2]],
    [1, [1, 1, 1], [0, 1, 0]],
    [7, [5], [7]],
  ])('makes whole parts of %i by %j', (whole, by, parts) => {
    expect(divideWhole(whole, by)).toEqual(parts);
  });

  it('never loses or invents anything', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e15 }), weights, (whole, by) => {
        const parts = divideWhole(whole, by);
        expect(sum(parts)).toBe(whole);
        expect(parts.every((part) => Number.isInteger(part) && part >= 0)).toBe(true);
      }),
    );
  });

  it('adds rates up exactly and gives each its share', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), weights, (rate, by) => {
        const parts = divideRate(rate, by);
        expect(sum(parts)).toBe(rate);
        const total = sum(by);
        for (const [i, part] of parts.entries()) {
          expect(Math.abs(part - (rate * (by[i] as number)) / total)).toBeLessThan(0.002);
        }
      }),
    );
  });
});
