import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeqRanges } from './open-run.ts';

const pieces = fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.nat(10)), { maxLength: 30 });

describe('sequence ranges', () => {
  it('know exactly the numbers that were added', () => {
    fc.assert(
      fc.property(pieces, (added) => {
        const ranges = new SeqRanges();
        const wanted = new Set<number>();
        for (const [from, more] of added) {
          ranges.add(from, from + more);
          for (let seq = from; seq <= from + more; seq += 1) wanted.add(seq);
        }
        for (let seq = 1; seq <= 75; seq += 1) expect(ranges.has(seq)).toBe(wanted.has(seq));
        expect(ranges.missingUpTo(40)).toBe(40 - [...wanted].filter((seq) => seq <= 40).length);
        let contiguous = 0;
        while (wanted.has(contiguous + 1)) contiguous += 1;
        expect(ranges.contiguous).toBe(contiguous);
        expect(ranges.hasAll(1, contiguous)).toBe(true);
        expect(ranges.hasAll(1, contiguous + 1)).toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});
