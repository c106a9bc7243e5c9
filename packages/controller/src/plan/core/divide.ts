interface Wholes {
  readonly rates: readonly number[];
  readonly totals: readonly number[];
}

/** Indexes of the clients whose part of a quantity would be 0. */
const idleOf = ({ rates, totals }: Wholes, weights: readonly number[]): number[] => {
  const divided = [
    ...totals.map((total) => divideWhole(total, weights)),
    ...rates.map((rate) => divideRate(rate, weights)),
  ];
  return weights.flatMap((weight, index) => (weight > 0 && divided.some((parts) => parts[index] === 0) ? [index] : []));
};

/** Keeps the `max` largest weights: there are no more units to divide. */
const heaviest = (weights: readonly number[], max: number): number[] => {
  const order = [...weights.keys()].sort((a, b) => (weights[b] as number) - (weights[a] as number));
  const kept = new Set(order.slice(0, max));
  return weights.map((weight, index) => (kept.has(index) ? weight : 0));
};

/**
 * The weights of the clients that share an entry. A client whose part of a quantity would be 0 gets weight 0, the
 * lightest first, so that the others carry the whole load.
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
