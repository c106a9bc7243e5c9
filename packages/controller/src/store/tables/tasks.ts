import type { Task, TaskTemplate, Threshold } from '@rushhour/contract';
import { flag, integer, json, maybeInteger, maybeText, text } from '../engine/column.ts';

/** Secrets inside `configuration` are sealed; `configurationSecrets` holds them by JSON pointer. */
export const tasks = {
  id: integer,
  comment: text,
  status: integer,
  error: text,
  projectID: maybeInteger,
  issuerID: maybeInteger,
  accessPlane: json<Task['accessPlane']>([]),
  controlPlane: json<Task['controlPlane']>([]),
  configuration: json<Task['configuration']>([]),
  configurationSecrets: json<Record<string, string>>({}),
  dumps: json<Partial<Task['dumps']>>({}),
  thresholds: json<Threshold[]>([]),
  device: json<Task['device']>(null),
  /** The newest run, active or not. */
  lastRunID: maybeInteger,
  /** Of the newest run; triggers keep it. */
  verdict: integer,
  scheduleEnabled: flag,
  createdAt: text,
  updatedAt: text,
  startedAt: maybeText,
  finishedAt: maybeText,
  deletedAt: maybeText,
};

/** How many tasks there are that are not deleted; triggers keep it. `projectID` is 0 for tasks without a project. */
export const taskCounts = {
  projectID: integer,
  status: integer,
  verdict: integer,
  scheduled: integer,
  count: integer,
};

/** At most one schedule a task. */
export const taskSchedules = {
  taskID: integer,
  kind: text,
  at: maybeText,
  cron: maybeText,
  timezone: text,
  startsAt: maybeText,
  endsAt: maybeText,
  maxRuns: maybeInteger,
  runsMade: integer,
  misfire: text,
  onConflict: text,
  priority: integer,
  nextRunAt: maybeText,
  lastRunID: maybeInteger,
  issuerID: maybeInteger,
  /** Keyed fingerprint of the definition that the issuer scheduled. */
  definition: text,
  createdAt: text,
  updatedAt: text,
};

/** An uploaded archive that waits for its mapping. */
export const taskImports = {
  id: text,
  issuerID: integer,
  sha256: text,
  plan: json<Record<string, unknown>>({}),
  expiresAt: text,
  createdAt: text,
};

export const taskTemplates = {
  id: integer,
  name: text,
  description: text,
  tags: text,
  task: json<TaskTemplate['task']>({} as TaskTemplate['task']),
  parameters: json<TaskTemplate['parameters']>([]),
  slots: json<TaskTemplate['slots']>([]),
  builtIn: flag,
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
};
