import { bytes, flag, integer, text } from '../engine/column.ts';

/**
 * Seconds of one job, packed by metrics/packing: first as they came in, later a minute in one row.
 * Agent 0 stands for all agents together: its rows hold minutes since the common start, `orderIndex` is the side of an
 * entry and the sequence numbers count seconds.
 */
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
  /** Nothing more is to be made of it. */
  isBlock: flag,
  data: bytes,
};

/** Names of metrics and targets of a run, numbered from 1: samples hold the numbers. */
export const runNames = { runID: integer, number: integer, name: text };
