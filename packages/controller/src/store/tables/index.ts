import type { StoredRow } from '../engine/column.ts';
import * as agents from './agents.ts';
import * as ai from './ai.ts';
import * as assets from './assets.ts';
import * as networks from './networks.ts';
import * as runs from './runs.ts';
import * as security from './security.ts';
import * as system from './system.ts';
import * as tasks from './tasks.ts';

/** Every table and its columns, in files by subject. */
export const tables = {
  ...system,
  ...networks,
  ...assets,
  ...security,
  ...tasks,
  ...agents,
  ...runs,
  ...ai,
};

/** The same as Kysely wants it. */
export type Tables = { [T in keyof typeof tables]: StoredRow<(typeof tables)[T]> };
export type TableName = keyof Tables;
