import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { type Content, headOf, scan, scanBytes } from '../content.ts';
import { decodeChunks, findTextEncoding } from './text-encoding.ts';
import { createWindow, type PreviewWindow, shorten } from './window.ts';

type Delimiter = ',' | ';' | '\t' | '|';

const delimiters: readonly Delimiter[] = [',', '\t', ';', '|'];
const recordsLooked = 20;

/** Fields of each of the first complete records. A quote opens a field only at its beginning, and may hold line ends. */
const fieldCounts = (text: string, delimiter: Delimiter): number[] => {
  const counts: number[] = [];
  let fields = 1;
  let isQuoted = false;
  let isStart = true;
  let isEmpty = true;
  for (const letter of text) {
    if (counts.length === recordsLooked) break;
    if (isQuoted) {
      if (letter === '"') isQuoted = false;
    } else if (letter === '\n') {
      if (!isEmpty) counts.push(fields);
      [fields, isStart, isEmpty] = [1, true, true];
      continue;
    } else if (letter === delimiter) fields += 1;
    else if (letter === '"' && isStart) isQuoted = true;
    isStart = letter === delimiter;
    if (letter !== '\r') isEmpty = false;
  }
  return counts;
};

/**
 * The delimiter that cuts every record of the head into the same number of fields, at least two; the most fields win.
 * `isWhole` says that the last record is complete though no line end follows.
 */
export const findDelimiter = (head: string, isWhole: boolean): Delimiter | undefined => {
  const text = isWhole ? `${head}\n` : head;
  const widths = delimiters.map((delimiter) => {
    const [first = 0, ...others] = fieldCounts(text, delimiter);
    const isTable = others.length > 0 && others.every((count) => count === first);
    return { delimiter, width: isTable ? first : 0 };
  });
  const best = widths.reduce((a, b) => (b.width > a.width ? b : a));
  return best.width >= 2 ? best.delimiter : undefined;
};

export interface CsvPreview {
  readonly kind: 'csv';
  readonly delimiter: Delimiter;
  /** The first record of the file. */
  readonly columns: string[];
  readonly rows: string[][];
  readonly hasMore: boolean;
  /** Why the rows end before the file does. */
  readonly problem?: string;
}

const headBytes = 64 * 1024;
const maxRecordLetters = 256 * 1024;
const maxColumns = 100;
const cellLetters = 1000;

const shown = (record: string[]) => record.slice(0, maxColumns).map((cell) => shorten(cell, cellLetters));

type OnRecord = (record: string[]) => boolean;

/**
 * Hands on records of any shape until one answers false: rows may be ragged and quotes stray, only a record without end
 * is refused. Records that stand before the fault are handed on first.
 */
const readRecords = async (texts: AsyncIterable<string>, delimiter: Delimiter, onRecord: OnRecord): Promise<void> => {
  let isDone = false;
  const parser = parse({
    delimiter,
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: maxRecordLetters,
    on_record: (record: string[]) => {
      isDone ||= !onRecord(record);
      return null;
    },
  });
  const ended = finished(parser.resume());
  ended.catch(() => {});
  for await (const text of texts) {
    if (isDone || parser.destroyed) break;
    if (!parser.write(text)) await Promise.race([once(parser, 'drain'), ended]);
  }
  if (isDone) return void parser.destroy();
  parser.end();
  await ended;
};

export const previewCsv = async (content: Content, window: PreviewWindow): Promise<CsvPreview> => {
  const head = await headOf(content, headBytes);
  const encoding = findTextEncoding(head) ?? 'utf-8';
  const delimiter = findDelimiter(new TextDecoder(encoding).decode(head), head.length === content.size) ?? ',';
  const wanted = createWindow<string[]>(window);
  let columns: string[] | undefined;
  const take = (record: string[]) => {
    if (columns) return wanted.add(shown(record));
    columns = shown(record);
    return true;
  };
  const answer = () => ({ kind: 'csv' as const, delimiter, columns: columns ?? [], rows: wanted.rows });
  try {
    await readRecords(decodeChunks(scan(content), encoding), delimiter, take);
    return { ...answer(), hasMore: wanted.hasMore() || content.size > scanBytes };
  } catch (error) {
    if (error instanceof CsvError) return { ...answer(), hasMore: false, problem: shorten(error.message, 300) };
    throw error;
  }
};
