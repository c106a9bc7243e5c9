import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activeWeights, divideRate, divideWhole } from './divide.ts';

describe('those among whom an entry is divided', () => {
  it.each([
    [[1, 1], [5], [1, 1]],
    [[1, 1], [1], [1, 0]],
    [[1, 9, 5], [2], [0, 9, 5]],
    [[1, 1000], [3], [0, 1000]],
    [[2, 2], [], [2, 2]],
  ])('of weights %j with totals %j are %j', (weights, totals, active) => {
    expect(activeWeights(weights, { rates: [], totals })).toEqual(active);
  });

  it('every client left has a part of each quantity, and at least one is left', () => {
    const weights = fc.array(fc.double({ min: 0.01, max: 1000, noNaN: true }), { minLength: 1, maxLength: 40 });
    const wholes = fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 3 });
    fc.assert(
      fc.property(weights, wholes, wholes, (by, totals, rates) => {
        const active = activeWeights(by, { totals, rates });
        const busy = active.flatMap((weight, i) => (weight > 0 ? [i] : []));
        expect(busy.length).toBeGreaterThan(0);
        for (const total of totals) expect(busy.every((i) => (divideWhole(total, active)[i] ?? 0) > 0)).toBe(true);
        for (const rate of rates) expect(busy.every((i) => (divideRate(rate, active)[i] ?? 0) > 0)).toBe(true);
      }),
    );
  });
});
