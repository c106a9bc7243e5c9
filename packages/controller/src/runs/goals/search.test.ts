import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSearchEnd, type JudgedTrial, nextTrial } from './search.ts';

const search = (goal: { start: number; max: number; resolutionPct: number }, passes: (load: number) => boolean) => {
  const trials: JudgedTrial[] = [];
  for (;;) {
    const next = nextTrial(goal, trials);
    if (isSearchEnd(next)) return { ...next, trials };
    trials.push({ ...next, passed: passes(next.load) });
  }
};

describe('the search for the highest load', () => {
  it('doubles until a trial fails, then halves in between, and tries the best again', () => {
    const { best, trials } = search({ start: 100, max: 10_000, resolutionPct: 10 }, (load) => load <= 550);
    expect(trials.map(({ load }) => load)).toEqual([100, 200, 400, 800, 600, 500, 550, 550]);
    expect(trials.at(-1)).toMatchObject({ isRepeat: true, passed: true });
    expect(best).toBe(550);
  });

  it('ends at the highest load that was to be tried', () => {
    expect(search({ start: 10, max: 35, resolutionPct: 5 }, () => true)).toMatchObject({ best: 35, failed: undefined });
  });

  it('goes down when even the first load fails, to nothing if need be', () => {
    expect(search({ start: 1000, max: 2000, resolutionPct: 5 }, (load) => load <= 90).best).toBeGreaterThan(80);
    expect(search({ start: 8, max: 2000, resolutionPct: 5 }, () => false).best).toBeNull();
  });

  it('does not believe a load that passes only once', () => {
    let isLucky = true;
    const { best } = search({ start: 100, max: 1000, resolutionPct: 5 }, (load) => {
      if (load <= 300) return true;
      const passed = isLucky && load <= 400;
      if (load === 400) isLucky = false;
      return passed;
    });
    expect(best).toBeLessThanOrEqual(300);
    expect(best).toBeGreaterThan(280);
  });

  it('finds the capacity of any device to the given resolution', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 1, max: 20 }),
        (capacity, start, resolutionPct) => {
          const max = Math.max(start, 1_000_000);
          const { best } = search({ start, max, resolutionPct }, (load) => load <= capacity);
          expect(best).toBeLessThanOrEqual(capacity);
          const next = Math.max((best as number) + 1, (best as number) * (1 + resolutionPct / 100));
          expect(next + 1).toBeGreaterThanOrEqual(Math.min(capacity, max));
        },
      ),
    );
  });
});
