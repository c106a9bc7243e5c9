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

// Multiples of a power of two add up without rounding.
const fraction = 1024;

/** The parts of one client after the other, without dividing for all of them each time. */
export class Shares {
  readonly #weights: readonly number[];
  /** Sums of the weights up to and with each client. */
  readonly #reached: readonly number[];
  readonly #busyBefore: readonly number[];
  readonly total: number;
  /** Number of clients with a part. */
  readonly busyCount: number;

  constructor(weights: readonly number[]) {
    let [reached, busy] = [0, 0];
    this.#weights = weights;
    this.#reached = weights.map((weight) => (reached += weight));
    this.#busyBefore = weights.map((weight) => (weight > 0 ? busy++ : busy));
    this.total = reached;
    this.busyCount = busy;
  }

  weightAt(index: number): number {
    return this.#weights[index] ?? 0;
  }

  /** Number of clients with a part before this one. */
  busyBefore(index: number): number {
    return this.#busyBefore[index] ?? 0;
  }

  /** What all clients before this one get of a whole. */
  offset(whole: number, index: number): number {
    if (index === 0) return 0;
    if (index === this.#weights.length) return whole;
    return Math.round(whole * ((this.#reached[index - 1] as number) / this.total));
  }

  /** As `divideWhole`. */
  whole(whole: number, index: number): number {
    return this.offset(whole, index + 1) - this.offset(whole, index);
  }

  /** As `divideRate`. */
  rate(rate: number, index: number): number {
    return this.whole(Math.round(rate * fraction), index) / fraction;
  }
}

/**
 * Whole parts of a whole, by weight. They add up to it exactly, and none is off by more than one; small wholes leave
 * some with nothing.
 */
export const divideWhole = (whole: number, weights: readonly number[]): number[] => {
  const shares = new Shares(weights);
  return weights.map((_, index) => shares.whole(whole, index));
};

/** Parts of a rate, by weight. They add up to it exactly, and each is above 0 as long as weights are of one kind. */
export const divideRate = (rate: number, weights: readonly number[]): number[] => {
  const shares = new Shares(weights);
  return weights.map((_, index) => shares.rate(rate, index));
};
