import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readVarint, varintLength, varintLengthAt, writeVarint } from './varint.ts';

describe('numbers of variable length', () => {
  it('read back', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        const bytes = new Uint8Array(8);
        expect(writeVarint(bytes, 0, value)).toBe(varintLength(value));
        expect(varintLengthAt(bytes[0] as number)).toBe(varintLength(value));
        expect(readVarint(bytes, 0)).toBe(value);
      }),
    );
  });
});
