import type { StoredRow } from '../engine/column.ts';
import * as agents from './agents.ts';
import * as ai from './ai.ts';
import * as applications from './applications.ts';
import * as attacks from './attacks.ts';
import * as campaigns from './campaigns.ts';
import * as certificates from './certificates.ts';
import * as cve from './cve.ts';
import * as dictionaries from './dictionaries.ts';
import * as files from './files.ts';
import * as harScripts from './har-scripts.ts';
import * as identity from './identity.ts';
import * as links from './links.ts';
import * as malware from './malware.ts';
import * as metrics from './metrics.ts';
import * as networks from './networks.ts';
import * as runs from './runs.ts';
import * as system from './system.ts';
import * as tasks from './tasks.ts';

/** Every table and its columns. A new collection adds a file and a line. */
export const tables = {
  ...identity,
  ...system,
  ...links,
  ...networks,
  ...dictionaries,
  ...certificates,
  ...files,
  ...applications,
  ...harScripts,
  ...cve,
  ...campaigns,
  ...tasks,
  ...agents,
  ...runs,
  ...attacks,
  ...malware,
  ...metrics,
  ...ai,
};

/** The same as Kysely wants it. */
export type Tables = { [T in keyof typeof tables]: StoredRow<(typeof tables)[T]> };
export type TableName = keyof Tables;
