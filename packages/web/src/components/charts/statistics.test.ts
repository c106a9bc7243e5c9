import { expect, it } from 'vitest';
import { statisticsOf } from './statistics.ts';

const t = [1000, 2000, 3000, 4000];

it('counts the points that have a value', () => {
  expect(statisticsOf(t, [2, null, 4, 6], undefined)).toEqual({ min: 2, mean: 4, max: 6 });
  expect(statisticsOf(t, [null, null], undefined)).toEqual({ min: null, mean: null, max: null });
});

it('counts the visible points only', () => {
  expect(statisticsOf(t, [2, 8, 4, 6], [2, 3])).toEqual({ min: 4, mean: 6, max: 8 });
});
