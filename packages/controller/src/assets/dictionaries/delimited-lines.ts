import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { badDictionary } from './content.ts';

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
const lineEnd = /\r\n|\n|\r/;

/**
 * The rows of a file, one at a time whatever its size. `path` says where the file came from in the request. The stream
 * is closed by the caller: the opener of an upload must read the rest of it.
 */
export async function* readLines(stream: Readable, format: LineFormat, path: string): AsyncGenerator<Line> {
  const parser = parse({
    delimiter: format.delimiter === '' ? [] : format.delimiter,
    quote: format.quote === '' ? null : format.quote,
    escape: format.quote === '' ? null : format.quote,
    // Files edited on several systems mix the ends of their lines.
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: maxLineBytes,
  });
  const stop = feed(stream, decoderOf(format.encoding), parser);
  try {
    let number = 0;
    for await (const cells of parser as AsyncIterable<string[]>) {
      number += linesOf(cells);
      const isEmpty = cells.length === 1 && cells[0] === '';
      if (!isEmpty || !format.skipEmpty) yield { number, cells };
    }
  } catch (error) {
    throw describe(error, { path, line: parser.info.lines, encoding: format.encoding });
  } finally {
    stop();
  }
}

// Counted here: the parser would copy all its counters for every row.
const linesOf = (cells: readonly string[]) => {
  let lines = 1;
  for (const cell of cells) if (lineEnd.test(cell)) lines += cell.split(lineEnd).length - 1;
  return lines;
};

/** Pipes the stream into the parser. Stopping releases the stream immediately, so that its owner can read on. */
const feed = (stream: Readable, decoder: Transform, parser: Transform) => {
  const fail = (error: Error) => parser.destroy(error);
  const onClose = () => stream.readableEnded || fail(new Error('the file ended too early'));
  // The error listener stays: the stream may fail after reading has stopped.
  stream.on('error', fail).on('close', onClose).pipe(decoder).on('error', fail).pipe(parser);
  return () => {
    stream.off('close', onClose).unpipe(decoder);
    decoder.destroy();
    parser.destroy();
  };
};

const decoderOf = (encoding: string) => {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const attempt = (work: () => string, done: TransformCallback) => {
    try {
      done(null, work());
    } catch (error) {
      done(error as Error);
    }
  };
  return new Transform({
    transform: (chunk: Buffer, _, done) => attempt(() => decoder.decode(chunk, { stream: true }), done),
    flush: (done) => attempt(() => decoder.decode(), done),
  });
};

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
