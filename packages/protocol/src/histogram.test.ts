import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Histogram } from './histogram.ts';

const values = fc.array(fc.oneof(fc.nat(100), fc.nat(10_000_000), fc.integer({ min: 0, max: 4294967295 })), {
  minLength: 1,
  maxLength: 300,
});
const histogramOf = (numbers: readonly number[]) => {
  const histogram = new Histogram();
  for (const number of numbers) histogram.record(number);
  return histogram;
};
const near = (actual: number, wanted: number) => Math.abs(actual - wanted) <= wanted * 0.016 + 0.5;

describe('histogram', () => {
  it('returns quantiles within 1.6 %, minimum and maximum exactly', () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (numbers, fraction) => {
        const sorted = numbers.toSorted((a, b) => a - b);
        const exact = sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] as number;
        const histogram = histogramOf(numbers);
        expect(near(histogram.quantile(fraction), exact)).toBe(true);
        expect([histogram.min, histogram.max]).toEqual([sorted[0], sorted.at(-1)]);
        expect(histogram.avg).toBeCloseTo(numbers.reduce((a, b) => a + b) / numbers.length, 3);
      }),
    );
  });

  it('is equal for recorded and merged values', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const merged = histogramOf(a).merge(histogramOf(b));
        expect(merged.toBase64()).toBe(histogramOf([...a, ...b]).toBase64());
        expect(merged.since(histogramOf(a)).count).toBe(b.length);
      }),
    );
  });

  it('has exact extremes of the values between two readings', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const histogram = new Histogram();
        for (const value of a) histogram.record(value);
        const first = histogram.takeSince(new Histogram());
        for (const value of b) histogram.record(value);
        const second = histogram.takeSince(first.now);
        expect(first.values.toBase64()).toBe(histogramOf(a).toBase64());
        expect(second.values.toBase64()).toBe(histogramOf(b).toBase64());
        expect(histogram.takeSince(second.now).values.count).toBe(0);
      }),
    );
  });

  it('reads histograms without extremes', () => {
    const old = Histogram.fromBytes(Uint8Array.of(200, 1, 4, 1));
    expect([old.min, old.max]).toEqual([4, 4]);
  });

  it('survives encoding and decoding', () => {
    fc.assert(
      fc.property(values, (numbers) => {
        const histogram = histogramOf(numbers);
        const copy = Histogram.fromBase64(histogram.toBase64());
        expect(copy.buffer).toEqual(histogram.buffer);
      }),
    );
  });

  it('takes few bytes for a narrow distribution', () => {
    const histogram = new Histogram();
    for (let i = 0; i < 100_000; i++) histogram.record(200 + (i % 100));
    expect(histogram.toBytes().length).toBeLessThan(120);
  });

  it('clamps values out of range', () => {
    const histogram = histogramOf([-5, Number.NaN, 1e12]);
    expect(histogram.count).toBe(3);
    expect(histogram.min).toBe(0);
    expect(near(histogram.max, 4294967295)).toBe(true);
  });

  it('rejects truncated bytes', () => {
    expect(() => Histogram.fromBytes(Uint8Array.of(0, 0, 0x80))).toThrow('truncated');
    expect(() => Histogram.fromBytes(Uint8Array.of(0, 0xff, 0x7f, 1))).toThrow('does not exist');
  });

  it('has no quantile while empty', () => {
    expect(new Histogram().quantile(0.5)).toBeNaN();
    expect(new Histogram().max).toBeNaN();
  });
});
