import type { Readable } from 'node:stream';
import { dictionaryLimits } from '@rushhour/pools';
import type { Issue } from '../../errors.ts';
import { badDictionary } from './content.ts';
import { type Line, type LineFormat, readLines } from './delimited-lines.ts';

export interface FileFormat extends LineFormat {
  /** The first line names the columns. */
  readonly header: boolean;
}

export interface FileReading {
  readonly format: FileFormat;
  /** Taken instead of those the file names. */
  readonly columns: readonly string[];
  /** Where the file came from in the request. */
  readonly path: string;
}

const maxIssues = 100;

/** Hands every row of a file to `take` and answers the columns. Problems are collected, each with its line. */
export const readFileRows = async (
  stream: Readable,
  { format, columns: given, path }: FileReading,
  take: (cells: readonly string[]) => void,
): Promise<{ columns: readonly string[]; count: number }> => {
  const issues: Issue[] = [];
  let columns = given;
  let isHeaderDue = format.header;
  let count = 0;
  for await (const line of readLines(stream, format, path)) {
    if (columns.length === 0) columns = columnsOf(line, format.header);
    if (columns.length > dictionaryLimits.columns) {
      const message = `line ${line.number} has ${columns.length} cells; ${dictionaryLimits.columns} columns are allowed`;
      throw badDictionary([{ path, code: 'COLUMNS_TOO_MANY', message }]);
    }
    if (isHeaderDue) {
      isHeaderDue = false;
      continue;
    }
    issues.push(...issuesOfLine(line, columns).map((issue) => ({ path, ...issue })));
    if (issues.length >= maxIssues) break;
    count += 1;
    if (issues.length === 0) take(line.cells);
  }
  if (issues.length > 0) throw badDictionary(issues.slice(0, maxIssues));
  if (count === 0) throw badDictionary([{ path, code: 'ROWS_MISSING', message: 'holds no rows' }]);
  return { columns, count };
};

const columnsOf = ({ cells }: Line, isHeader: boolean) => {
  if (isHeader) return cells.map((cell) => cell.trim());
  return cells.length === 1 ? ['value'] : cells.map((_, i) => `column${i + 1}`);
};

const issuesOfLine = ({ number, cells }: Line, columns: readonly string[]) => {
  const issues: { code: string; message: string }[] = [];
  if (cells.length !== columns.length) {
    issues.push({ code: 'ROW_RAGGED', message: `line ${number} has ${cells.length} cells, not ${columns.length}` });
  }
  for (const [i, cell] of cells.entries()) {
    if (cell.includes('\0')) issues.push({ code: 'BAD_TEXT', message: `line ${number}, cell ${i + 1} holds a NUL` });
    if (Buffer.byteLength(cell) > dictionaryLimits.cellBytes) {
      const message = `line ${number}, cell ${i + 1} is longer than ${dictionaryLimits.cellBytes} bytes`;
      issues.push({ code: 'CELL_TOO_LONG', message });
    }
  }
  return issues;
};
