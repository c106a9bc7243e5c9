import { expect, it } from 'vitest';
import { Patience } from './retries.ts';

it('doubts silence while answers come late, and believes it on a quick path', () => {
  const patience = new Patience(3000);
  expect([1, 2, 3].map(() => patience.isTooShort(3000, 1000))).toEqual([true, true, false]);
  patience.note(20, 5000);
  expect(patience.isTooShort(3000, 5000)).toBe(false);
  patience.note(900, 6000);
  expect(patience.isTooShort(3000, 10_000)).toBe(true);
  expect(patience.isTooShort(3000, 60_000)).toBe(false);
});
