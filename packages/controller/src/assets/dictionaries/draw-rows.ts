import {
  createDraw,
  type DictionaryDraft,
  dictionaryLimits,
  type FileRows,
  fileOptionsOf,
  isProtocolType,
} from '@rushhour/pools';
import { invalid } from '../../errors.ts';
import { type dictionaries, readRows } from '../../store/assets/dictionaries.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { DictionaryFile, DictionaryFiles } from './content.ts';
import { isInline } from './content.ts';
import { readLines } from './delimited-lines.ts';
import { openFile, withFile } from './import.ts';
import { sourcePath } from './write-dictionary.ts';

const seed = 1;
const budgetMs = 2000;

/** The first rows drawn by `count` users, one each; fewer when the data ends. */
const sampleOf = (dictionary: DictionaryDraft, count: number, rows?: FileRows): Record<string, string>[] => {
  const { columns, row } = createDraw(dictionary, { seed, users: count, rows });
  const drawn: Record<string, string>[] = [];
  const deadline = performance.now() + budgetMs;
  for (let user = 0; user < count; user += 1) {
    // Rows of many long computed columns are slow and block other requests.
    if (performance.now() > deadline) throw tooLarge(`only ${user} rows can be drawn in ${budgetMs} ms`);
    const cells = row({ user });
    if (cells === undefined) break;
    drawn.push(Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? ''])));
  }
  return drawn;
};

const tooLarge = (message: string) => invalid([{ path: '/sample', in: 'query', code: 'SAMPLE_TOO_LARGE', message }]);

/** The same for rows that stay in their file: which rows are drawn is known before any is read. */
const sampleOfFile = async (
  dictionary: DictionaryDraft & { columns: readonly string[]; rowCount: number },
  count: number,
  file: DictionaryFile,
): Promise<Record<string, string>[]> => {
  const wanted = new Set<number>();
  const rowsOf = (row: FileRows['row']): FileRows => ({ count: dictionary.rowCount, columns: dictionary.columns, row });
  sampleOf(
    dictionary,
    count,
    rowsOf((index) => {
      wanted.add(index);
      return [];
    }),
  );
  if (wanted.size > dictionaryLimits.rows) {
    throw tooLarge(`weights of more than ${dictionaryLimits.rows} rows are not read for a sample`);
  }
  const found = await pickRows(file, dictionary, wanted);
  return sampleOf(
    dictionary,
    count,
    rowsOf((index) => found.get(index) ?? []),
  );
};

const pickRows = (file: DictionaryFile, dictionary: DictionaryDraft, wanted: ReadonlySet<number>) =>
  withFile(file, async (stream) => {
    const format = fileOptionsOf(dictionary);
    const found = new Map<number, readonly string[]>();
    let index = format.header ? -1 : 0;
    for await (const { cells } of readLines(stream, format, '')) {
      if (found.size === wanted.size) break;
      if (wanted.has(index)) found.set(index, cells);
      index += 1;
    }
    return found;
  });

export type StoredDictionary = NonNullable<Awaited<ReturnType<typeof dictionaries.find>>>;

/** Rows in the member that the type keeps them in. */
export const placed = (type: string, rows: readonly (string | string[])[]) => ({
  values: type === 'list' ? (rows as string[]) : [],
  rows: type === 'table' ? (rows as string[][]) : [],
});

/** The first rows drawn by `count` users, from the record or its file. */
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
