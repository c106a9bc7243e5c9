import type { Readable } from 'node:stream';
import type { NewDictionary } from '@rushhour/contract';
import { dictionaryLimits, fileOptionsOf } from '@rushhour/pools';
import { ApiError, type Issue } from '../../errors.ts';
import { createRowBlocks, type RowBlocks } from '../../store/assets/dictionaries.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { DictionaryFile, DictionaryFiles } from './content.ts';
import { assertValid, badDictionary, type Content } from './content.ts';
import { type FileFormat, type FileReading, readFileRows } from './file-rows.ts';

/** All rows of one dictionary, as they are stored: what a controller and an agent can keep at hand. */
const maxInlineBytes = 32 * 1_048_576;

type Fields = Pick<NewDictionary, 'delimiter' | 'quote' | 'header' | 'encoding' | 'skipEmpty'>;

/** The format of a file of this name, for options the request leaves out. */
export const formatOf = (fields: Fields, filename: string, isList: boolean): FileFormat => {
  const defaultDelimiter = /\.(tsv|tab)$/i.test(filename) ? '\t' : ',';
  const { delimiter = isList ? '' : defaultDelimiter, quote = isList ? '' : '"' } = fields;
  return {
    delimiter: delimiter === 'tab' || delimiter === '\\t' ? '\t' : delimiter,
    quote,
    header: fields.header ?? !isList,
    encoding: fields.encoding ?? 'utf-8',
    skipEmpty: fields.skipEmpty ?? true,
  };
};

/** Copies the rows of a file into the dictionary. */
export const importRows = async (stream: Readable, content: Content, reading: FileReading) => {
  const rows = createRowBlocks();
  const isList = content.type === 'list';
  const refuse = (message: string) =>
    badDictionary([{ path: reading.path, code: 'ROWS_TOO_MANY', message: `${message} need type file` }]);
  const { columns } = await readFileRows(stream, reading, (cells) => {
    rows.add(isList ? (cells[0] ?? '') : cells);
    if (rows.progress.count > dictionaryLimits.rows) throw refuse(`more than ${dictionaryLimits.rows} rows`);
    if (rows.progress.bytes > maxInlineBytes) throw refuse(`rows of more than ${maxInlineBytes} bytes`);
  });
  const blocks = rows.finish();
  const shown = content.config['$selection'] === undefined ? blocks.blocks.slice(0, 1) : blocks.blocks;
  assertValidRead({ ...content, columns, ...unpacked(isList, shown) }, reading.path);
  return { columns: [...columns], rowCount: blocks.count, blocks };
};

// Without selection options nothing depends on the number of rows, and each row was checked as it was read.
const unpacked = (isList: boolean, blocks: RowBlocks['blocks']) => {
  const rows = blocks.flatMap((block) => JSON.parse(block));
  return isList ? { values: rows as string[] } : { rows: rows as string[][] };
};

/** The columns come from the file, so their problems are reported there. */
const assertValidRead = (content: Content, path: string) => {
  try {
    assertValid(content);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const issues = error.data['issues'] as Issue[];
    throw badDictionary(
      issues.map((issue) => (/^\/(columns|rows|values)/.test(issue.path) ? { ...issue, path } : issue)),
    );
  }
};

export const openFile = async (files: DictionaryFiles, executor: Executor, fileID: number, path: string) => {
  const file = await files.find(executor, fileID);
  if (file === undefined) throw badDictionary([{ path, code: 'UNKNOWN_FILE', message: `there is no file ${fileID}` }]);
  return file;
};

/** Runs over the rows of a stored file and closes it. */
export const withFile = async <T>(file: DictionaryFile, work: (stream: Readable) => Promise<T>): Promise<T> => {
  const stream = await file.open();
  try {
    return await work(stream);
  } finally {
    stream.destroy();
  }
};

/** Checks a dictionary of type file against its file: every row as long as the columns. */
export const scanFile = async (file: DictionaryFile, content: Content, path: string) => {
  const reading = { format: fileOptionsOf(content), columns: content.columns, path };
  const { columns, count } = await withFile(file, (stream) => readFileRows(stream, reading, () => {}));
  if (content.columns.length === 0) assertValidRead({ ...content, columns }, path);
  return { columns: [...columns], rowCount: count };
};
