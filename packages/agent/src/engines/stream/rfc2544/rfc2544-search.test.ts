import { maxTrialsOf } from '@rushhour/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Search } from './rfc2544-search.ts';

/** Searches a path that carries `limit` and passes nothing above it; `arrives` says what is left of too much. */
const searchFor = (limit: number, first: number, resolutionPct: number, arrives = (_: number) => limit) => {
  const search = new Search({ resolutionPct }, { first, minStep: 1 });
  for (let rate = search.next(); rate !== undefined; rate = search.next()) {
    const passed = rate <= limit;
    search.note({ offered: rate, arrived: passed ? rate : arrives(rate), passed });
  }
  return search;
};

describe('the rate search', () => {
  it('takes three trials when an overloaded path delivers its capacity', () => {
    const { low, high, trials } = searchFor(81_274, 1_000_000, 1);
    expect(trials).toBe(3);
    expect(low).toBeLessThanOrEqual(81_274);
    expect(high - low).toBeLessThanOrEqual(high * 0.01);
  });

  it('takes one trial when everything passes', () => {
    expect(searchFor(5000, 1000, 1)).toMatchObject({ low: 1000, trials: 1, high: Number.POSITIVE_INFINITY });
  });

  it('reaches the configured resolution for any overload behaviour', () => {
    const share = fc.double({ min: 0.02, max: 1, noNaN: true });
    const left = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(share, left, fc.double({ min: 0.1, max: 10, noNaN: true }), (part, rest, resolutionPct) => {
        const limit = part * 1_000_000;
        const { low, high, trials } = searchFor(limit, 1_000_000, resolutionPct, (rate) => rate * rest);
        expect(trials).toBeLessThanOrEqual(maxTrialsOf({ resolutionPct }));
        expect(low).toBeLessThanOrEqual(limit);
        if (high === Number.POSITIVE_INFINITY) expect(low).toBe(1_000_000);
        else expect(high - low).toBeLessThanOrEqual(Math.max(1, (high * resolutionPct) / 100));
      }),
    );
  });

  it('ends with 0 when nothing passes', () => {
    const { low, trials } = searchFor(-1, 1_000_000, 1, (rate) => rate * 0.99);
    expect(low).toBe(0);
    expect(trials).toBeLessThanOrEqual(maxTrialsOf({ resolutionPct: 1 }));
  });
});
