import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from './fingerprint.ts';

const shuffled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, shuffled(member)]),
  );
};

describe('a fingerprint', () => {
  it('does not depend on the order of members, nor on a journey through JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fingerprintOf(shuffled(value))).toBe(fingerprintOf(value));
        expect(fingerprintOf(JSON.parse(JSON.stringify(value)))).toBe(fingerprintOf(value));
      }),
    );
  });

  it('tells values apart', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const isSame = JSON.stringify(shuffled(one)) === JSON.stringify(shuffled(other));
        fc.pre(!isSame && typeof one !== 'object');
        expect(fingerprintOf(one)).not.toBe(fingerprintOf(other));
      }),
    );
    expect(fingerprintOf([1, 2])).not.toBe(fingerprintOf([2, 1]));
    expect(fingerprintOf({ a: '1' })).not.toBe(fingerprintOf({ a: 1 }));
    expect(fingerprintOf({ a: undefined })).toBe(fingerprintOf({}));
  });

  it('is SHA-256 of sorted JSON without blanks', () => {
    expect(fingerprintOf({ b: [1, null], a: 'x' })).toBe(
      'a8d71f64d3dc772b9eb4e657b383397a3aadf01d32947e3bc05925eaf48e41bf',
    );
  });
});
