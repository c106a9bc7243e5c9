import { describe, expect, it } from 'vitest';
import { chooserOf } from './rotation.ts';

const a = { name: 'a', weight: 2 };
const b = { name: 'b', weight: 1 };
const names = (rotation: Parameters<typeof chooserOf>[1], slots: readonly number[]) => {
  const choose = chooserOf([a, b], rotation);
  return slots.map((slot) => choose(slot).name).join('');
};

describe('rotation', () => {
  it('rotates by weight without bursts', () => {
    expect(names('roundRobin', [0, 0, 0, 0, 0, 0])).toBe('abaaba');
  });
  it('selects all items in order, regardless of weight', () => {
    expect(names('sequential', [5, 5, 5, 5])).toBe('abab');
  });
  it('keeps the choice of a slot', () => {
    expect(names('sticky', [2, 1, 0, 2, 1, 0])).toBe('abaaba');
  });
  it('selects randomly in proportion to weight', () => {
    const chosen = names('random', Array(3000).fill(0));
    expect(chosen.split('a').length / 3000).toBeCloseTo(2 / 3, 1);
  });
});
