import fc from 'fast-check';
import { expect, it } from 'vitest';
import { describeDifference, firstDifference } from './difference.ts';

it('the first difference is where one byte was changed', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (bytes, n, by) => {
        const at = n % bytes.length;
        const changed = Uint8Array.from(bytes);
        changed[at] = ((bytes[at] ?? 0) + by) % 256;
        expect(firstDifference(bytes, changed)).toBe(at);
        expect(firstDifference(bytes, Uint8Array.from(bytes))).toBeUndefined();
        expect(firstDifference(bytes, bytes.subarray(0, at))).toBe(at);
      },
    ),
  );
});

it('a difference is described with both bytes and their context', () => {
  const [expected, arrived] = [Buffer.from('a quiet harbour'), Buffer.from('a quiet\xffharbour', 'latin1')];
  expect(describeDifference(expected, arrived, 7)).toBe(
    'differs at byte 7: 0xff instead of 0x20, "a quiet\\xffharbour" instead of "a quiet harbour"',
  );
  expect(describeDifference(expected, expected.subarray(0, 3), 3)).toContain('ends after 3 of 15 bytes');
});
