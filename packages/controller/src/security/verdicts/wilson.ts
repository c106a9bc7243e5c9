/** A share with what it is known to lie in. */
export interface Rate {
  /** Null when there is nothing to reckon it from. */
  readonly value: number | null;
  readonly ci95: readonly [low: number, high: number] | null;
  readonly n: number;
  /** From too few to be called good or bad. */
  readonly isGraded: boolean;
}

const z = 1.959963984540054;
const leastGraded = 10;

/** Wilson's interval: unlike the plain one it is right for few attempts and near 0 and 1. */
export const rateOf = (count: number, n: number): Rate => {
  if (n === 0) return { value: null, ci95: null, n, isGraded: false };
  const share = count / n;
  const scale = 1 + z ** 2 / n;
  const centre = (share + z ** 2 / (2 * n)) / scale;
  const half = (z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2))) / scale;
  const ci95 = [Math.max(0, centre - half), Math.min(1, centre + half)] as const;
  return { value: share, ci95, n, isGraded: n >= leastGraded };
};
