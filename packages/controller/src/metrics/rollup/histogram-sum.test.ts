import { Histogram } from '@rushhour/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HistogramSum, isHistogram, mergedHistogram } from './histogram-sum.ts';

const histogram = fc
  .array(fc.oneof(fc.nat(100), fc.nat(10_000_000), fc.nat(4_294_967_295)), { maxLength: 100 })
  .map((numbers) => {
    const made = new Histogram();
    for (const number of numbers) made.record(number);
    return made;
  });

describe('histogram sum', () => {
  it('says of several histograms what one that had recorded everything would say', () => {
    fc.assert(
      fc.property(
        fc.array(histogram, { maxLength: 6 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (all, fraction) => {
          const one = all.reduce((total, next) => total.merge(next), new Histogram());
          const sum = all.reduce((total, next) => total.add(next.toBytes()), new HistogramSum());
          for (const statistic of ['count', 'sum', 'avg', 'min', 'max'] as const) {
            expect(sum[statistic]).toBe(one[statistic]);
          }
          expect(sum.quantile(fraction)).toBe(one.quantile(fraction));
          expect(sum.toBytes()).toEqual(one.toBytes());
          const halves = [all.slice(0, 3), all.slice(3)].map((half) =>
            half.reduce((total, next) => total.add(next.toBytes()), new HistogramSum()),
          );
          expect((halves[0] as HistogramSum).addAll(halves[1] as HistogramSum).toBytes()).toEqual(one.toBytes());
        },
      ),
    );
  });

  it('merges two histograms in their byte form', () => {
    fc.assert(
      fc.property(histogram, histogram, (a, b) => {
        expect(mergedHistogram([a.toBytes(), b.toBytes()])).toEqual(a.copy().merge(b).toBytes());
      }),
    );
  });

  it('counts beyond 32 bits', () => {
    const many = new HistogramSum();
    const bytes = Uint8Array.of(0, 5, ...[0xff, 0xff, 0xff, 0xff, 0x0f]);
    for (let i = 0; i < 3; i += 1) many.add(bytes);
    expect(many.count).toBe(3 * (2 ** 32 - 1));
    expect(new HistogramSum().add(many.toBytes()).count).toBe(many.count);
  });

  it('knows bytes that are no histogram', () => {
    const bytes = new Histogram();
    for (const value of [1, 500, 70_000]) bytes.record(value);
    expect(isHistogram(bytes.toBytes())).toBe(true);
    expect(isHistogram(new Uint8Array())).toBe(false);
    expect(isHistogram(bytes.toBytes().subarray(0, -1))).toBe(false);
    expect(isHistogram(Uint8Array.of(0, 0xff, 0xff, 0x7f, 1))).toBe(false);
    expect(isHistogram(new Uint8Array(20).fill(0xff))).toBe(false);
    const minimumOutside = Uint8Array.of(9, 4, 1, 0x80 + ((896 - 5) % 128), 6, 7, 0, 0);
    expect(isHistogram(minimumOutside)).toBe(false);
  });
});
