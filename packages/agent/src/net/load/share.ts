import type { Load } from '@rushhour/protocol';

/** The part of one of `count`, so that all parts together are the whole. */
export const shareOf = (whole: number, index: number, count: number): number =>
  Math.floor(whole / count) + (index < whole % count ? 1 : 0);

export const loadShare = (load: Load, count: number): Load =>
  Object.fromEntries(Object.entries(load).map(([name, rate]) => [name, (rate as number) / count]));
