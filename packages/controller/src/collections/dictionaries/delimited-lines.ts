import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { badDictionary } from './bad-dictionary.ts';

/** How a file is cut into rows and cells. */
export interface LineFormat {
  /** One character; empty takes every line as one cell. */
  readonly delimiter: string;
  readonly quote: string;
  readonly encoding: string;
  readonly skipEmpty: boolean;
}

export interface Line {
  /** The line its row ends on, from 1. */
  readonly number: number;
  readonly cells: readonly string[];
}

const maxLineBytes = 1_048_576;

/**
 * The rows of a file, one at a time whatever its size. `path` says where the file came from in the request. The stream
 * is the caller's to close: what an upload still brings must be read by whoever opened it.
 */
export async function* readLines(stream: Readable, format: LineFormat, path: string): AsyncGenerator<Line> {
  const parser = parse({
    delimiter: format.delimiter === '' ? [] : format.delimiter,
    quote: format.quote === '' ? null : format.quote,
    escape: format.quote === '' ? null : format.quote,
    // Files edited on several systems mix the ends of their lines.
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: format.skipEmpty,
    max_record_size: maxLineBytes,
    info: true,
  });
  // A failure reaches the reader of the parser; the pipeline's own promise has nothing to add.
  pipeline(decoded(stream, format.encoding), parser).catch(() => {});
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      yield { number: info.lines, cells: record };
    }
  } catch (error) {
    throw describe(error, { path, line: parser.info.lines, encoding: format.encoding });
  } finally {
    parser.destroy();
  }
}

async function* decoded(stream: Readable, encoding: string) {
  const decoder = new TextDecoder(encoding, { fatal: true });
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    const text = decoder.decode(chunk as Buffer, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

const reasons: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted cell is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'text follows the end of a quoted cell',
  INVALID_OPENING_QUOTE: 'a quote stands inside a cell that is not quoted',
  CSV_MAX_RECORD_SIZE: `a row is longer than ${maxLineBytes} bytes`,
};

const describe = (error: unknown, { path, line, encoding }: { path: string; line: number; encoding: string }) => {
  if (error instanceof CsvError) {
    const message = `line ${line}: ${reasons[error.code] ?? 'this is not a row'}`;
    return badDictionary([{ path, code: error.code.replace(/^CSV_/, ''), message }]);
  }
  if ((error as { code?: string }).code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return badDictionary([{ path, code: 'BAD_ENCODING', message: `is not ${encoding} after line ${line}` }]);
  }
  return error;
};
