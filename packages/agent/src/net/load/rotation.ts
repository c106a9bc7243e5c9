import type { Rotation } from '@rushhour/protocol';

/** Selects an item for a session slot. */
export type Chooser<T> = (slot: number) => T;

interface Weighted {
  readonly weight: number;
}

/** Smooth weighted round robin: weights 2 and 1 give a, b, a and never a, a, b. */
const smoothRoundRobin = <T extends Weighted>(items: readonly T[]): Chooser<T> => {
  if (items.every((item) => item.weight === items[0]?.weight)) return cyclerOf(items);
  const credits = items.map(() => 0);
  const total = items.reduce((sum, item) => sum + item.weight, 0);
  return () => {
    let best = 0;
    items.forEach((item, index) => {
      credits[index] = (credits[index] as number) + item.weight;
      if ((credits[index] as number) > (credits[best] as number)) best = index;
    });
    credits[best] = (credits[best] as number) - total;
    return items[best] as T;
  };
};

/** Returns the items one after another, over and over. */
export const cyclerOf = <T>(items: readonly T[]): (() => T) => {
  let next = 0;
  return () => {
    const item = items[next] as T;
    next = next + 1 === items.length ? 0 : next + 1;
    return item;
  };
};

const weightedRandom = <T extends Weighted>(items: readonly T[]): Chooser<T> => {
  const total = items.reduce((sum, item) => sum + item.weight, 0);
  return () => {
    let rest = Math.random() * total;
    for (const item of items) {
      rest -= item.weight;
      if (rest < 0) return item;
    }
    return items.at(-1) as T;
  };
};

/** With `sticky`, a slot always gets the same item, and slots spread over all items by weight. */
export const chooserOf = <T extends Weighted>(items: readonly T[], rotation: Rotation): Chooser<T> => {
  if (items.length === 1) return () => items[0] as T;
  if (rotation === 'random') return weightedRandom(items);
  if (rotation === 'sequential') return cyclerOf(items);
  const next = smoothRoundRobin(items);
  if (rotation === 'roundRobin') return next;
  const kept: T[] = [];
  return (slot) => {
    while (kept.length <= slot) kept.push(next(kept.length));
    return kept[slot] as T;
  };
};
