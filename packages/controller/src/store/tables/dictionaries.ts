import { type Column, integer, json, maybeInteger, text } from '../engine/column.ts';

export const dictionaries = {
  id: integer,
  name: text,
  description: text,
  type: text,
  tags: text,
  selection: { cleared: 'sequential' } as Column<string, string>,
  columns: json<string[]>([]),
  config: json<Record<string, Record<string, unknown>>>({}),
  source: text as Column<'user' | 'builtin', string>,
  /** Rows of a table, values of a list or lines of the file. */
  rowCount: integer,
  issuerId: maybeInteger,
  createdAt: text,
  updatedAt: text,
};

/** Rows and values in blocks of a fixed number, so that a page is read without the rest. */
export const dictionaryRows = { dictionaryID: integer, block: integer, rows: text };
