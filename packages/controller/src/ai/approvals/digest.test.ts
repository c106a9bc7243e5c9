import fc from 'fast-check';
import { expect, it } from 'vitest';
import { changedPointers, digestOf } from './digest.ts';

it('gives equal values equal digests, whatever the order of their members', () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, member]) => [name, shuffled(member)]),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain = JSON.parse(JSON.stringify(value));
      expect(digestOf(shuffled(plain))).toBe(digestOf(plain));
      expect(changedPointers(plain, shuffled(plain))).toEqual([]);
    }),
  );
});

it('has another digest exactly where it names a changed place', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
      const [before, after] = JSON.parse(JSON.stringify([left, right]));
      expect(changedPointers(before, after).length === 0).toBe(digestOf(before) === digestOf(after));
    }),
  );
});

it('names places, not values, and fifty at most', () => {
  expect(changedPointers({ a: { 'b/c~': 1 }, d: [1, 2] }, { a: { 'b/c~': 'secret' }, d: [1], e: 0 })).toEqual([
    '/a/b~1c~0',
    '/d/1',
    '/e',
  ]);
  const many = Array.from({ length: 80 }, (_, i) => i);
  expect(
    changedPointers(
      many,
      many.map((i) => i + 1),
    ),
  ).toHaveLength(50);
});
