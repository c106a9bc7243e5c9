import type { RunSeries } from './run-series.ts';

/** Two runs on one time axis, each counted from its start. */
export interface Overlay {
  /** Milliseconds since the start. */
  readonly t: readonly number[];
  readonly base: RunSeries['values'];
  readonly other: RunSeries['values'];
}

/** Seconds since the first point. */
const secondsOf = ({ t }: RunSeries) => t.map((at) => Math.round((at - (t[0] ?? 0)) / 1000));

const aligned = (series: RunSeries, seconds: readonly number[]): RunSeries['values'] => {
  const indexes = new Map(secondsOf(series).map((second, i) => [second, i]));
  return Object.fromEntries(
    Object.entries(series.values).map(([key, values]) => [
      key,
      seconds.map((second) => {
        const index = indexes.get(second);
        return index === undefined ? null : (values[index] ?? null);
      }),
    ]),
  );
};

export const overlayOf = (base: RunSeries, other: RunSeries): Overlay => {
  const seconds = [...new Set([...secondsOf(base), ...secondsOf(other)])].sort((a, b) => a - b);
  return { t: seconds.map((second) => second * 1000), base: aligned(base, seconds), other: aligned(other, seconds) };
};
