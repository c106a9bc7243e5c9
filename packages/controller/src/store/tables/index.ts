import type { StoredRow } from '../column.ts';
import * as applications from './applications.ts';
import * as certificates from './certificates.ts';
import * as dictionaries from './dictionaries.ts';
import * as files from './files.ts';
import * as identity from './identity.ts';
import * as links from './links.ts';
import * as networks from './networks.ts';
import * as system from './system.ts';

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
};

/** The same as Kysely wants it. */
export type Tables = { [T in keyof typeof tables]: StoredRow<(typeof tables)[T]> };
export type TableName = keyof Tables;
