import { divideRate, divideWhole } from './divide.ts';

interface Wholes {
  readonly rates: readonly number[];
  readonly totals: readonly number[];
}

const isIdle = ({ rates, totals }: Wholes, weights: readonly number[], index: number): boolean =>
  totals.some((total) => divideWhole(total, weights)[index] === 0) ||
  rates.some((rate) => divideRate(rate, weights)[index] === 0);

/**
 * The weights of those among whom an entry is divided. Whoever would get nothing of something takes no part and has
 * weight 0, the lightest first, so that all the rest of the entry is still done by the others.
 */
export const activeWeights = (weights: readonly number[], wholes: Wholes): number[] => {
  const active = [...weights];
  for (;;) {
    const idle = active.flatMap((weight, index) => (weight > 0 && isIdle(wholes, active, index) ? [index] : []));
    const lightest = idle.toSorted((a, b) => (active[a] as number) - (active[b] as number))[0];
    if (lightest === undefined) return active;
    active[lightest] = 0;
  }
};
