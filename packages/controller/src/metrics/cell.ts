import type { Phase } from '@rushhour/protocol';
import { mergedHistogram } from './histogram-sum.ts';
import { type Metric, type NameBook, noTarget } from './name-book.ts';
import type { Second } from './second.ts';

/** What all agents of one side did in one second, together, whatever their targets. */
export interface Cell {
  /** Of all orders together. */
  spanMs: number;
  /** How many orders it is made of. */
  orders: number;
  /** Steady only when it was for every order. */
  phase: Phase;
  readonly scalars: Map<number, number>;
  readonly histograms: Map<number, Uint8Array>;
}

/** Strain of generators is that of the worst; everything else adds up. */
export const isWorstOf = ({ kind, name }: Metric) => kind === 'gauge' && name.startsWith('agent.');

export const createCell = (phase: Phase): Cell => ({
  spanMs: 0,
  orders: 0,
  phase,
  scalars: new Map(),
  histograms: new Map(),
});

/**
 * `isMore`: the order has been in this second before, as with the short piece after its planned end.
 * Then what it counted adds up, but how it stood was said already.
 */
export const addToCell = (cell: Cell, second: Second, names: NameBook, isMore: boolean): void => {
  cell.spanMs += second.spanMs;
  if (!isMore) cell.orders += 1;
  if (second.phase !== 'steady') cell.phase = second.phase;
  for (const { scalars, histograms } of second.parts) {
    for (const [number, value] of scalars) {
      const metric = names.metrics.get(number);
      if (metric === undefined || (isMore && metric.kind === 'gauge')) continue;
      const before = cell.scalars.get(number);
      if (before === undefined) cell.scalars.set(number, value);
      else cell.scalars.set(number, isWorstOf(metric) ? Math.max(before, value) : before + value);
    }
    for (const [number, bytes] of histograms) {
      const before = cell.histograms.get(number);
      cell.histograms.set(number, before === undefined ? bytes : mergedHistogram(before, bytes));
    }
  }
};

/** Metric 0 of a merged second says how many orders it is made of. */
const ordersMetric = 0;

/** A cell in the form in which it is packed. */
export const secondOfCell = (seq: number, at: number, cell: Cell): Second => ({
  seq,
  at,
  spanMs: cell.spanMs,
  phase: cell.phase,
  parts: [
    {
      target: noTarget,
      scalars: new Map([[ordersMetric, cell.orders], ...cell.scalars]),
      histograms: cell.histograms,
    },
  ],
});

/** The way back. */
export const cellOfSecond = ({ spanMs, phase, parts: [part] }: Second): Cell => {
  const scalars = new Map(part?.scalars);
  const orders = scalars.get(ordersMetric) ?? 1;
  scalars.delete(ordersMetric);
  return { spanMs, orders, phase, scalars, histograms: new Map(part?.histograms) };
};

/** Whether a metric must be read for `cellOfSecond` to work. */
export const isNeededForCell = (metric: number) => metric === ordersMetric;
