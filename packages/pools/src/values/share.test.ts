import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shareOf } from './share.ts';

describe('shares of a pool', () => {
  test('follow each other without gap or overlap and differ by one at most', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 70n }), fc.integer({ min: 1, max: 50 }), (size, agentCount) => {
        const shares = Array.from({ length: agentCount }, (_, i) => shareOf(size, i, agentCount));
        let next = 0n;
        for (const share of shares) {
          expect(share.start).toBe(next);
          expect(share.size === size / BigInt(agentCount) || share.size === size / BigInt(agentCount) + 1n).toBe(true);
          next += share.size;
        }
        expect(next).toBe(size);
      }),
    );
  });

  test('exist only for agents there are', () => {
    expect(() => shareOf(10n, 2, 2)).toThrow(RangeError);
    expect(() => shareOf(10n, -1, 2)).toThrow(RangeError);
  });
});
