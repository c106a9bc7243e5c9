import type { StreamClientConfig } from '@rushhour/protocol';
import { type Chooser, chooserOf } from '../../net/load/rotation.ts';

const checkSequenceBytes = 4;
/** Preamble and inter-frame gap. */
export const gapBytes = 20;

/** Sequence of frame sizes. */
export interface SizePlan {
  /** Distinct sizes in bytes without FCS. */
  readonly sizes: readonly number[];
  /** Index of the next size in `sizes`. */
  readonly next: () => number;
  /** Mean frame size in bytes with FCS. */
  readonly meanBytes: number;
}

const sizesOf = ({ mix, sweep }: StreamClientConfig['sizes']): { frameSize: number; weight: number }[] => {
  if (sweep === undefined) return [...mix];
  if (sweep.first > sweep.last) throw new RangeError('the size sweep ends below its first size');
  const count = Math.floor((sweep.last - sweep.first) / sweep.step) + 1;
  return Array.from({ length: count }, (_, index) => ({ frameSize: sweep.first + index * sweep.step, weight: 1 }));
};

const longestRound = 65_536;

/** With integer weights the sequence repeats after their sum, so it is precomputed. */
const cycleOf = (choose: Chooser<{ index: number }>, items: readonly { weight: number }[]): (() => number) => {
  const round = items.reduce((sum, { weight }) => sum + weight, 0);
  if (round > longestRound || items.some(({ weight }) => !Number.isInteger(weight))) return () => choose(0).index;
  const indexes = Uint16Array.from({ length: round }, () => choose(0).index);
  let next = 0;
  return () => {
    const index = indexes[next] as number;
    next = next + 1 === round ? 0 : next + 1;
    return index;
  };
};

/** Shares are distributed evenly, not randomly: they hold for a hundred frames as well as for a million. */
export const planSizes = (config: StreamClientConfig['sizes']): SizePlan => {
  const sizes = sizesOf(config);
  const total = sizes.reduce((sum, { weight }) => sum + weight, 0);
  const items = sizes.map(({ weight }, index) => ({ index, weight }));
  return {
    sizes: sizes.map(({ frameSize }) => frameSize - checkSequenceBytes),
    next: cycleOf(chooserOf(items, config.sweep === undefined ? 'roundRobin' : 'sequential'), items),
    meanBytes: sizes.reduce((sum, { frameSize, weight }) => sum + (frameSize * weight) / total, 0),
  };
};
