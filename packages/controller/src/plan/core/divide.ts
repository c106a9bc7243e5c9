interface Wholes {
  readonly rates: readonly number[];
  readonly totals: readonly number[];
}

/** Who would get nothing of something. */
const idleOf = ({ rates, totals }: Wholes, weights: readonly number[]): number[] => {
  const divided = [
    ...totals.map((total) => divideWhole(total, weights)),
    ...rates.map((rate) => divideRate(rate, weights)),
  ];
  return weights.flatMap((weight, index) => (weight > 0 && divided.some((parts) => parts[index] === 0) ? [index] : []));
};

/** No more can take part than there are things to be done. */
const heaviest = (weights: readonly number[], most: number): number[] => {
  const order = [...weights.keys()].sort((a, b) => (weights[b] as number) - (weights[a] as number));
  const kept = new Set(order.slice(0, most));
  return weights.map((weight, index) => (kept.has(index) ? weight : 0));
};

/**
 * The weights of those among whom an entry is divided. Whoever would get nothing of something takes no part and has
 * weight 0, the lightest first, so that all the rest of the entry is still done by the others.
 */
export const activeWeights = (weights: readonly number[], wholes: Wholes): number[] => {
  const active = heaviest(weights, Math.min(...wholes.totals));
  for (;;) {
    const idle = idleOf(wholes, active);
    const [first] = idle;
    if (first === undefined) return active;
    const weightAt = (index: number) => active[index] as number;
    active[idle.reduce((lightest, index) => (weightAt(index) < weightAt(lightest) ? index : lightest), first)] = 0;
  }
};

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
