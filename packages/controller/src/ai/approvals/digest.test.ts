import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson, changedPointers, digestOf } from './digest.ts';

it('writes what RFC 8785 gives as its example', () => {
  const value = {
    numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
    literals: [null, true, false],
  };
  expect(canonicalJson(value)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
  expect(canonicalJson({ '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 })).toBe(
    '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"\u{1f600}":5,"\ufb33":3}',
  );
});

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
      expect(JSON.parse(canonicalJson(plain))).toEqual(plain);
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
