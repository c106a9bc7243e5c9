import type { Phase } from '@rushhour/protocol';
import { mergedHistogram } from '../rollup/histogram-sum.ts';
import { type Metric, type NameBook, noTarget } from './name-book.ts';
import type { Second } from './second.ts';

/** What all agents of one side did in one second, together, whatever their targets. */
export interface Cell {
  /** Time of the job that was longest in this second. */
  spanMs: number;
  /** Steady only when it was for every job that had not ended. */
  phase: Phase;
  readonly scalars: Map<number, number>;
  /** Merged when they are asked for: to merge each as it comes would be to write the same one a thousand times. */
  readonly pieces: Map<number, Uint8Array[]>;
}

const maxPieces = 256;

/** Strain of generators is that of the worst; everything else adds up. */
export const isWorstOf = ({ kind, name }: Metric) => kind === 'gauge' && name.startsWith('agent.');

export const createCell = (phase: Phase): Cell => ({
  spanMs: 0,
  phase,
  scalars: new Map(),
  pieces: new Map(),
});

/** The histograms of a cell, one for each metric. */
export const histogramsOf = ({ pieces }: Cell): Map<number, Uint8Array> =>
  new Map([...pieces].map(([number, list]) => [number, mergedPiece(list)]));

const mergedPiece = (list: Uint8Array[]): Uint8Array => {
  if (list.length > 1) list.splice(0, list.length, mergedHistogram(list));
  return list[0] as Uint8Array;
};

export interface CellContext {
  readonly names: NameBook;
  readonly isMore: boolean;
  /** Time of the job in this second so far, this piece included. */
  readonly jobSpanMs: number;
}

/**
 * `isMore`: the job has been in this second before, as with the short piece after its planned end.
 * Then what it counted adds up, but how it stood was said already.
 */
export const addToCell = (cell: Cell, second: Second, { names, isMore, jobSpanMs }: CellContext): void => {
  cell.spanMs = Math.max(cell.spanMs, jobSpanMs);
  // At a change of stages one job winds down while the next one runs.
  if (cell.phase === 'windDown' || (second.phase !== 'steady' && second.phase !== 'windDown'))
    cell.phase = second.phase;
  for (const { scalars, histograms } of second.parts) {
    for (const [number, value] of scalars) {
      const metric = names.metrics.get(number);
      if (metric === undefined || (isMore && metric.kind === 'gauge')) continue;
      const before = cell.scalars.get(number);
      if (before === undefined) cell.scalars.set(number, value);
      else cell.scalars.set(number, isWorstOf(metric) ? Math.max(before, value) : before + value);
    }
    for (const [number, bytes] of histograms) {
      const list = cell.pieces.get(number);
      if (list === undefined) cell.pieces.set(number, [bytes]);
      else if (list.push(bytes) > maxPieces) mergedPiece(list);
    }
  }
};

/** Seconds of less than this are not whole. */
const wholeMs = 800;

/** A short second is the last one of a job, or follows a stall of its generator. */
export const phaseOf = ({ phase, spanMs }: Cell): { phase: Phase; isWhole: boolean } => ({
  phase,
  isWhole: spanMs >= wholeMs,
});

/** Metric 0 of a merged second: by how much its time is to be divided. Earlier versions added up that of all jobs. */
const jobsMetric = 0;

/** A cell in the form in which it is packed. */
export const secondOfCell = (seq: number, at: number, cell: Cell): Second => ({
  seq,
  at,
  spanMs: cell.spanMs,
  phase: cell.phase,
  parts: [
    {
      target: noTarget,
      scalars: new Map([[jobsMetric, 1], ...cell.scalars]),
      histograms: histogramsOf(cell),
    },
  ],
});

/** The way back. */
export const cellOfSecond = ({ spanMs, phase, parts: [part] }: Second): Cell => {
  const scalars = new Map(part?.scalars);
  const jobs = scalars.get(jobsMetric) ?? 1;
  scalars.delete(jobsMetric);
  const pieces = new Map([...(part?.histograms ?? [])].map(([number, bytes]) => [number, [bytes]]));
  return { spanMs: spanMs / Math.max(1, jobs), phase, scalars, pieces };
};

/** Whether a metric must be read for `cellOfSecond` to work. */
export const isNeededForCell = (metric: number) => metric === jobsMetric;
