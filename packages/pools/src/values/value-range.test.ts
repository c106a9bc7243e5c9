import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { floorIndex, intersectRanges, mergeRanges, subtractRanges, type ValueRange } from './value-range.ts';

const anyRange = fc
  .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 9 }))
  .map(([first, length]): ValueRange => ({ first: BigInt(first), last: BigInt(first + length) }));
const anyRanges = fc.array(anyRange, { maxLength: 12 });

function membersOf(ranges: readonly ValueRange[]): Set<bigint> {
  const members = new Set<bigint>();
  for (const { first, last } of ranges) for (let value = first; value <= last; value++) members.add(value);
  return members;
}

describe('ranges of numbers', () => {
  test('merging keeps the members and leaves a gap between neighbours', () => {
    fc.assert(
      fc.property(anyRanges, (ranges) => {
        const merged = mergeRanges(ranges);
        expect(membersOf(merged)).toEqual(membersOf(ranges));
        for (const [i, range] of merged.slice(1).entries()) {
          expect(range.first).toBeGreaterThan((merged[i] as ValueRange).last + 1n);
        }
      }),
    );
  });

  test('subtracting leaves what is in the whole and in no hole', () => {
    fc.assert(
      fc.property(anyRange, anyRanges, (whole, holes) => {
        const left = membersOf(subtractRanges(whole, mergeRanges(holes)));
        const hidden = membersOf(holes);
        expect([...left]).toEqual([...membersOf([whole])].filter((value) => !hidden.has(value)));
      }),
    );
  });

  test('intersecting leaves what is in both', () => {
    fc.assert(
      fc.property(anyRanges, anyRanges, (a, b) => {
        const common = membersOf(intersectRanges(mergeRanges(a), mergeRanges(b)));
        const right = membersOf(b);
        expect([...common]).toEqual([...membersOf(mergeRanges(a))].filter((value) => right.has(value)));
      }),
    );
  });

  test('the floor of a value is the last element that is not above it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.integer({ min: -1, max: 21 }), (values, wanted) => {
        const ascending = values.toSorted((a, b) => a - b);
        expect(floorIndex(ascending, wanted)).toBe(ascending.findLastIndex((value) => value <= wanted));
      }),
    );
  });
});
