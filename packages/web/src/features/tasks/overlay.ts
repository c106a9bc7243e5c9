import type { RunSeries } from './run-series.ts';

/** Two runs laid over each other: points of time count from the start of each. */
export interface Overlay {
  /** Milliseconds since the start. */
  readonly t: readonly number[];
  readonly base: RunSeries['values'];
  readonly other: RunSeries['values'];
}

/** Seconds since the first point. */
const secondsOf = ({ t }: RunSeries) => t.map((at) => Math.round((at - (t[0] ?? 0)) / 1000));

const placed = (series: RunSeries, seconds: readonly number[]): RunSeries['values'] => {
  const places = new Map(secondsOf(series).map((second, i) => [second, i]));
  return Object.fromEntries(
    Object.entries(series.values).map(([key, values]) => [
      key,
      seconds.map((second) => {
        const place = places.get(second);
        return place === undefined ? null : (values[place] ?? null);
      }),
    ]),
  );
};

export const overlayOf = (base: RunSeries, other: RunSeries): Overlay => {
  const seconds = [...new Set([...secondsOf(base), ...secondsOf(other)])].sort((a, b) => a - b);
  return { t: seconds.map((second) => second * 1000), base: placed(base, seconds), other: placed(other, seconds) };
};
