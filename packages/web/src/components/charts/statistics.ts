import type { Zoom } from './chart.ts';

export interface Statistics {
  readonly min: number | null;
  readonly mean: number | null;
  readonly max: number | null;
}

/** Statistics of the visible points; `t` is in milliseconds, the zoom in seconds. Points without a value do not count. */
export const statisticsOf = (t: readonly number[], values: readonly (number | null)[], zoom: Zoom): Statistics => {
  let [min, max, sum, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
  for (const [i, value] of values.entries()) {
    const at = (t[i] ?? 0) / 1000;
    if (value === null || (zoom !== undefined && (at < zoom[0] || at > zoom[1]))) continue;
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
    count += 1;
  }
  return count === 0 ? { min: null, mean: null, max: null } : { min, mean: sum / count, max };
};
