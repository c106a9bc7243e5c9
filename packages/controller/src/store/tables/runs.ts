import type { Threshold } from '@rushhour/contract';
import type { Capture, JobOutcome, LoadChange, PlaneCommand } from '@rushhour/protocol';
import { bytes, flag, integer, json, maybeInteger, maybeText, text } from '../engine/column.ts';

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

/**
 * An ended run by steps of time, packed by metrics/rollup. Step 0 stands for all of its time. Agent 0 is all agents together.
 * `fromSec` counts seconds from the common start, from 1.
 */
export const runRollups = { runID: integer, stepSec: integer, agentID: integer, fromSec: integer, data: bytes };

/** Names of metrics and targets of a run, numbered from 1: samples hold the numbers. */
export const runNames = { runID: integer, number: integer, name: text };

export interface RunValidity {
  valid: boolean;
  reasons: string[];
}

/** What the task was when the run began; the run goes by this, whatever becomes of the task. */
export interface RunDefinition {
  comment: string;
  accessPlane: unknown[];
  controlPlane: unknown[];
  configuration: unknown[];
  dumps: Record<string, unknown>;
}

/** One order of an agent in a run. Its place in the list is how messages name it. */
export interface RunJob {
  /** Index of the configuration entry it serves. */
  entry: number;
  pluginId: number;
  /** Index in `accessPlane` or `controlPlane` of a job of a plane. */
  planeEntry?: number;
  role: 'client' | 'server';
  engine: string;
  target: string;
  /** Its part of the load of the entry. */
  share: number;
  /** Begins so long after the common start. */
  startAfterSec: number;
  canPause: boolean;
  canChangeLoad: boolean;
  /** The load it shall have, where that was changed during the run. */
  load: LoadChange | null;
  /** Commands given during the run, in order; their numbers count from 1. */
  commands?: PlaneCommand[];
  /** How it ended. */
  outcome: JobOutcome | null;
}

export const runs = {
  id: integer,
  taskID: integer,
  /** Counts the runs of the task from 1. */
  number: integer,
  status: integer,
  stopReason: text,
  /** What the run shall become when stopping is done: 7, 8 or 9. */
  endStatus: maybeInteger,
  stopMode: text,
  verdict: integer,
  validity: json<RunValidity>({ valid: true, reasons: [] }),
  health: text,
  comment: text,
  labels: json<Record<string, string>>({}),
  startedBy: maybeInteger,
  /** `user`, `ai` or `schedule`. */
  origin: text,
  priority: integer,
  /** Not to be begun before. */
  notBefore: maybeText,
  queuedAt: text,
  startedAt: maybeText,
  finishedAt: maybeText,
  /** When the present state is given up. */
  deadlineAt: maybeText,
  /** Common start, milliseconds since 1970; null until armed. */
  t0: maybeInteger,
  /** Planned seconds of traffic; null when it ends by count or by hand. */
  plannedSec: maybeInteger,
  pausedAt: maybeText,
  pausedMs: integer,
  epoch: integer,
  attempt: integer,
  definition: json<RunDefinition>({} as RunDefinition),
  /** Sealed, by JSON pointer into the definition. */
  definitionSecrets: json<Record<string, string>>({}),
  definitionHash: text,
  /** What is captured, where that was changed during the run; null when nothing is. */
  capture: json<{ dumps?: Record<string, unknown>; wish?: Capture | null; revision?: number }>({}),
  thresholds: json<Threshold[]>([]),
  agentLossPolicy: text,
  /** Written when the run ends. */
  summary: json<Record<string, unknown>>({}),
  pinned: flag,
  expiresAt: maybeText,
  error: text,
  createdAt: text,
  updatedAt: text,
};

/** Controllers that share the database; `leaseUntil` is a time of the database, milliseconds since 1970. */
export const controllers = { id: text, leaseUntil: integer };

/** The owner of an active run. Every change of owner raises `fence`; only who knows its value writes the run. */
export const runLeases = {
  runID: integer,
  /** Id of a controller; empty while nobody owns the run. */
  owner: text,
  fence: integer,
  /** Agents that the run waits for while it is queued. */
  agentIDs: json<number[]>([]),
};

/** One row for each agent of a run. */
export const runAgents = {
  runID: integer,
  agentID: integer,
  name: text,
  role: text,
  /** waiting, preparing, prepared, armed, running, paused, ended, failed, lost. */
  state: text,
  bootId: text,
  orders: json<RunJob[]>([]),
  error: text,
  updatedAt: text,
};

/** What happened, in order; `seq` counts from 1 within a run. Changes of status are events of type `status`. */
export const runEvents = {
  runID: integer,
  seq: integer,
  ts: text,
  type: text,
  severity: text,
  agentID: maybeInteger,
  source: text,
  message: text,
  data: json<Record<string, unknown>>({}),
};

/**
 * Packet dumps, one for each interface of an agent that was captured. `state`: open while it is captured, closed when it
 * waits on the agent, ready when its content is here, lost when it never will be, doomed when it is to be deleted.
 */
export const runDumps = {
  id: integer,
  runID: integer,
  epoch: integer,
  agentID: integer,
  /** Among the dumps of the agent. */
  name: text,
  interface: text,
  state: text,
  size: integer,
  packets: integer,
  drops: integer,
  truncated: flag,
  sha256: text,
  firstAt: maybeText,
  lastAt: maybeText,
  problem: text,
  createdAt: text,
  updatedAt: text,
};

/** Rows of the tables of a run, such as sessions or neighbours; `rowIndex` counts within a job and a table. */
export const runRows = {
  runID: integer,
  tableName: text,
  agentID: integer,
  orderIndex: integer,
  rowIndex: integer,
  state: text,
  cells: json<Record<string, string | number | null>>({}),
};
