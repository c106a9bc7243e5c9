import { bytes, integer, text } from '../column.ts';

/** Seconds of one order as they came in: `data` is packed by metrics/packing. Compacted into longer spans later. */
export const runSamples = {
  runID: integer,
  agentID: integer,
  orderIndex: integer,
  /** First and last sequence number in `data`. */
  fromSeq: integer,
  toSeq: integer,
  /** First and last end of a second, milliseconds since 1970. */
  fromAt: integer,
  toAt: integer,
  data: bytes,
};

/** Names of metrics and targets of a run, numbered: samples hold the numbers. */
export const runNames = { runID: integer, number: integer, name: text };
