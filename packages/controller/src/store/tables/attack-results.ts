import type { AttackResult, Campaign, CampaignStep } from '@rushhour/contract';
import { bytes, integer, json, maybeInteger, maybeText, real, text } from '../engine/column.ts';

/** Campaigns that came with imported tasks. Their ids begin where those that are shipped end. */
export const campaigns = {
  id: integer,
  name: text,
  description: text,
  version: integer,
  tags: text,
  parameters: json<Campaign['parameters']>([]),
  steps: json<CampaignStep[]>([]),
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
};

/** What the attempts of a run are: one file for each entry, as its agents got it. */
export const runAttempts = {
  runID: integer,
  sha256: text,
  /** Jobs that use it, `[agentID, orderIndex, startAfterSec]` each. */
  orders: json<[agentID: number, orderIndex: number, startAfterSec: number][]>([]),
  /** What counts as stopped. */
  policy: json<Record<string, unknown>>({}),
  size: integer,
  /** Lines of JSON, compressed. */
  data: bytes,
};

/** What one second of one job told of single attempts. */
export const runRecords = {
  runID: integer,
  agentID: integer,
  orderIndex: integer,
  seq: integer,
  /** A list, compressed JSON. */
  data: bytes,
};

export const attackResults = {
  id: integer,
  taskID: integer,
  runID: integer,
  /** Which run of the task. */
  iteration: integer,
  kind: text,
  refID: integer,
  refName: text,
  variant: text,
  category: text,
  attemptID: text,
  expected: text,
  severity: text,
  techniques: json<string[]>([]),
  direction: text,
  client: json<AttackResult['client']>({} as AttackResult['client']),
  server: json<AttackResult['server']>({} as AttackResult['server']),
  outcome: text,
  mechanism: maybeText,
  detected: text,
  alerts: json<AttackResult['alerts']>([]),
  confidence: text,
  reason: text,
  control: json<AttackResult['control']>({ before: false, after: false }),
  /** Name of the device under test, as the labels of the run tell it. */
  device: text,
  startedAt: text,
  durationMs: real,
  /** Beginning of an answer that was not ours, base64. */
  excerpt: text,
};
