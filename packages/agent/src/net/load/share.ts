import type { Load } from '@rushhour/protocol';

/** The share of one of `count` cores; all shares add up to the whole. */
export const shareOf = (whole: number, index: number, count: number): number =>
  Math.floor(whole / count) + (index < whole % count ? 1 : 0);

export const loadShare = (load: Load, count: number): Load =>
  Object.fromEntries(Object.entries(load).map(([name, rate]) => [name, (rate as number) / count]));

const sumOf = (shares: readonly number[]): number => shares.reduce((sum, share) => sum + share, 0);

/** The users of a core among those of all cores. */
export const usersOf = (shares: readonly number[], index: number) => ({
  firstUser: sumOf(shares.slice(0, index)),
  users: sumOf(shares),
});
