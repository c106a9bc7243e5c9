import { isProtocolType } from '@rushhour/pools';
import { invalid } from '../../errors.ts';
import { type dictionaries, readRows } from '../../store/assets/dictionaries.ts';
import type { Executor } from '../../store/engine/database.ts';
import { isInline } from './content.ts';
import type { DictionaryFiles } from './dictionary-files.ts';
import { openFile } from './import.ts';
import { sourcePath } from './new-dictionary.ts';
import { sampleOf, sampleOfFile } from './sample.ts';

export type StoredDictionary = NonNullable<Awaited<ReturnType<typeof dictionaries.find>>>;

/** Rows in the member that the type keeps them in. */
export const placed = (type: string, rows: readonly (string | string[])[]) => ({
  values: type === 'list' ? (rows as string[]) : [],
  rows: type === 'table' ? (rows as string[][]) : [],
});

/** The first rows that so many users would draw, wherever the rows are. */
export const drawRows = async (
  { read, files }: { read: Executor; files: DictionaryFiles },
  found: StoredDictionary,
  count: number,
): Promise<Record<string, string>[]> => {
  const { id, type, config, rowCount } = found;
  if (isProtocolType(type)) {
    const message = 'parameters of a protocol hold nothing to draw from';
    throw invalid([{ path: '/sample', in: 'query', code: 'NOTHING_TO_DRAW', message }]);
  }
  if (type === 'file') {
    const fileID = Number(config['$source']?.['fileID']);
    return sampleOfFile(found, count, await openFile(files, read, fileID, sourcePath));
  }
  const rows = isInline(type) ? await readRows(read, id, { from: 0, limit: rowCount }) : [];
  return sampleOf({ ...found, ...placed(type, rows) }, count);
};
