import type { MetricSeries } from '@rushhour/contract';
import { Histogram } from '@rushhour/protocol';
import { HistogramSum } from '../rollup/histogram-sum.ts';

/** Sixteen buckets are half an octave, so that bands are exact. */
const bucketsPerBand = 16;
const lowestOf = (band: number) => Histogram.lowestOf(band * bucketsPerBand);

/** Counts by band at each point: all bands from the lowest to the highest that has any, so that none is skipped. */
export const bandLines = (
  { metric, labels }: Pick<MetricSeries['series'][number], 'metric' | 'labels'>,
  steps: readonly (Uint8Array | undefined)[],
  points: number,
): MetricSeries['series'] => {
  const byPoint = Array.from({ length: points }, (_, point) => {
    const bytes = steps[point];
    return bytes === undefined ? [] : new HistogramSum().add(bytes).countsBy(bucketsPerBand);
  });
  const used = byPoint.flatMap((counts) => Object.keys(counts).map(Number));
  if (used.length === 0) return [];
  const first = used.reduce((low, band) => Math.min(low, band));
  const last = used.reduce((high, band) => Math.max(high, band));
  return Array.from({ length: last - first + 1 }, (_, i) => first + i).map((band) => ({
    metric,
    labels: { ...labels, from: String(lowestOf(band)), to: String(lowestOf(band + 1)) },
    values: byPoint.map((counts) => counts[band] ?? 0),
  }));
};
