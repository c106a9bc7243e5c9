import { expect, it } from 'vitest';
import { pauseOf, Throttle } from './timing.ts';

it.each([
  ['original', 1, 900, 500, 900],
  ['original', 3, 900, 500, 300],
  ['original', 1, 400, 500, 0],
  ['original', 0.5, 500, 500, 1000],
  ['max', 1, 900, 500, 0],
  ['bps', 1, 900, 500, 0],
] as const)(
  'in mode %s with multiplier %d, a pause of %d ms (minimum %d) lasts %d ms',
  (mode, multiplier, gap, minGap, ms) => {
    expect(pauseOf({ mode, value: 0, multiplier }, gap, minGap)).toBe(ms);
  },
);

it('a throttle spreads bytes or steps evenly', () => {
  const bits = new Throttle('bps', 8000);
  expect(bits.take(1000)).toBe(0);
  expect(bits.take(500)).toBeCloseTo(1000, -2);
  expect(bits.take(0)).toBeCloseTo(1500, -2);
  const steps = new Throttle('pps', 10);
  expect([steps.take(9999), steps.take(1)]).toEqual([0, expect.closeTo(100, -1)]);
});
