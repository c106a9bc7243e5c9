/**
 * Whole parts of a whole, by weight. They add up to it exactly, and none is off by more than one; small wholes leave
 * some with nothing.
 */
export const divideWhole = (whole: number, weights: readonly number[]): number[] => {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  let reached = 0;
  return weights.map((weight, index) => {
    reached += weight;
    const until = index === weights.length - 1 ? whole : Math.round(whole * (reached / total));
    const part = until - before;
    before = until;
    return part;
  });
};

// Multiples of a power of two add up without rounding.
const fraction = 1024;

/** Parts of a rate, by weight. They add up to it exactly, and each is above 0 as long as weights are of one kind. */
export const divideRate = (rate: number, weights: readonly number[]): number[] =>
  divideWhole(Math.round(rate * fraction), weights).map((part) => part / fraction);
