import { fileOptionsOf, isProtocolType } from '@rushhour/pools';
import type { DictionaryFiles } from '../../assets/dictionaries/content.ts';
import { isInline } from '../../assets/dictionaries/content.ts';
import { readLines } from '../../assets/dictionaries/delimited-lines.ts';
import { drawRows, placed, type StoredDictionary } from '../../assets/dictionaries/draw-rows.ts';
import { openFile, withFile } from '../../assets/dictionaries/import.ts';
import { sourcePath } from '../../assets/dictionaries/write-dictionary.ts';
import { ApiError } from '../../errors.ts';
import { dictionaries, readRows } from '../../store/assets/dictionaries.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { PlanDictionary, PlanTable } from '../core/plan-input.ts';

/** Reads values of dictionaries by id; unknown ids are missing from the result. */
export type PlanDictionaries = (read: Executor, ids: readonly number[]) => Promise<ReadonlyMap<number, PlanDictionary>>;

/** Reads whole dictionaries by id; unknown ids are missing from the result. */
export type PlanTables = (read: Executor, ids: readonly number[]) => Promise<ReadonlyMap<number, PlanTable>>;

/** Of the cells of one dictionary, because agents get them inside their jobs. */
const maxTableBytes = 4 * 1024 * 1024;

class TooLarge extends Error {}

/** Reads whole dictionaries for agents to draw from. Rows of files become rows of a table. */
export const readDictionaryTables =
  (files: DictionaryFiles): PlanTables =>
  async (read, ids) => {
    const found = await dictionaries.findMany(read, [...new Set(ids)]);
    const tables = await Promise.all(
      found.map(async (dictionary) => [dictionary.id, await tableOf(dictionary, { read, files })] as const),
    );
    return new Map(tables);
  };

interface Access {
  readonly read: Executor;
  readonly files: DictionaryFiles;
}

const tableOf = async (dictionary: StoredDictionary, access: Access): Promise<PlanTable> => {
  const { id, name, type, columns, selection, config } = dictionary;
  if (isProtocolType(type)) return { name, problem: 'parameters of a protocol hold nothing to draw from' };
  const draft = { id, type, selection, columns, config: config as Record<string, object> };
  try {
    if (type === 'file') {
      return { name, draft: { ...draft, type: 'table', ...placed('table', await fileRows(dictionary, access)) } };
    }
    const limit = isInline(type) ? dictionary.rowCount : 0;
    const rows = await readRows(access.read, id, { from: 0, limit });
    let bytes = 0;
    for (const row of rows) bytes = counted(bytes, row);
    return { name, draft: { ...draft, ...placed(type, rows) } };
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof TooLarge)) throw error;
    return { name, problem: error.message };
  }
};

const counted = (bytes: number, row: string | readonly string[]): number => {
  const all = bytes + [row].flat().reduce((sum, cell) => sum + cell.length, 0);
  if (all > maxTableBytes) throw new TooLarge(`its rows have more than ${maxTableBytes} bytes`);
  return all;
};

const fileRows = async (dictionary: StoredDictionary, { read, files }: Access): Promise<string[][]> => {
  const format = fileOptionsOf(dictionary);
  const fileID = Number(dictionary.config['$source']?.['fileID']);
  return withFile(await openFile(files, read, fileID, sourcePath), async (stream) => {
    const rows: string[][] = [];
    let isHeader = format.header;
    let bytes = 0;
    for await (const { cells } of readLines(stream, format, '')) {
      if (!isHeader) rows.push([...cells]);
      isHeader = false;
      bytes = counted(bytes, cells);
    }
    return rows;
  });
};

const maxValues = 10_000;

/** Reads the distinct values of the first column, and all columns. */
export const readDictionaryValues =
  (files: DictionaryFiles): PlanDictionaries =>
  async (read, ids) => {
    const found = await dictionaries.findMany(read, ids);
    const drawn = await Promise.all(
      found.map(async (dictionary) => [dictionary.id, await valuesOf(dictionary, { read, files })] as const),
    );
    return new Map(drawn);
  };

/** Each row once, column by column. */
const columnsOf = (rows: readonly Record<string, string>[]): Record<string, string[]> => {
  const distinct = [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()].slice(0, maxValues);
  const names = Object.keys(distinct[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, distinct.map((row) => row[name] ?? '')]));
};

const valuesOf = async (dictionary: StoredDictionary, access: Access): Promise<PlanDictionary> => {
  const { name } = dictionary;
  try {
    const rows = await drawRows(access, dictionary, maxValues + 1);
    // Drawing starts over at the end of a dictionary, so only distinct values show whether there are more.
    const values = [...new Set(rows.map((row) => Object.values(row)[0] ?? ''))];
    return { name, values: values.slice(0, maxValues), columns: columnsOf(rows), isCut: values.length > maxValues };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { name, values: [], isCut: false, problem: error.message };
  }
};
