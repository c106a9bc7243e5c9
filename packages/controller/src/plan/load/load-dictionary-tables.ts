import { fileOptionsOf, isProtocolType } from '@rushhour/pools';
import { isInline } from '../../assets/dictionaries/content.ts';
import { readLines } from '../../assets/dictionaries/delimited-lines.ts';
import type { DictionaryFiles } from '../../assets/dictionaries/dictionary-files.ts';
import { placed, type StoredDictionary } from '../../assets/dictionaries/draw-rows.ts';
import { openFile, withFile } from '../../assets/dictionaries/import.ts';
import { sourcePath } from '../../assets/dictionaries/new-dictionary.ts';
import { ApiError } from '../../errors.ts';
import { dictionaries, readRows } from '../../store/assets/dictionaries.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { PlanTable, PlanTables } from '../content/plan-applications.ts';

/** Of the cells of one dictionary: agents get them in their orders. */
const mostBytes = 4 * 1024 * 1024;

class TooLarge extends Error {}

/** Whole dictionaries, so that agents can draw from them. Rows of files become rows of a table. */
export const planTables =
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
  if (all > mostBytes) throw new TooLarge(`its rows have more than ${mostBytes} bytes`);
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
