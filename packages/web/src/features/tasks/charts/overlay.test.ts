import { expect, it } from 'vitest';
import { overlayOf } from './overlay.ts';

it('aligns runs of different days and lengths at their starts', () => {
  const base = { t: [1_000_000, 1_001_000, 1_002_000], values: { errors: [1, 2, 3] } };
  const other = { t: [9_000_400, 9_001_300], values: { errors: [7, 8] } };
  expect(overlayOf(base, other)).toEqual({
    t: [0, 1000, 2000],
    base: { errors: [1, 2, 3] },
    other: { errors: [7, 8, null] },
  });
});

it('keeps metrics that only one of them has', () => {
  const base = { t: [0], values: { achievedLoad: [5] } };
  const other = { t: [0, 2000], values: { 'http.errors.reset': [1, 2] } };
  expect(overlayOf(base, other)).toEqual({
    t: [0, 2000],
    base: { achievedLoad: [5, null] },
    other: { 'http.errors.reset': [1, 2] },
  });
});
