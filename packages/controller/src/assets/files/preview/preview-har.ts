import { type Content, scan, scanBytes } from '../content.ts';
import { JsonError, type JsonPath, type JsonScalar, JsonWalker } from './json-walker.ts';
import { createWindow, type PreviewWindow, shorten } from './window.ts';

const isEntries = (path: JsonPath) => path.length === 2 && path[0] === 'log' && path[1] === 'entries';

type JsonKind = 'har' | 'json' | 'none';

/** A UTF-8 byte order mark is no part of a JSON document, but files have it. */
export async function* withoutMark(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of chunks) {
    const hasMark = isFirst && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf;
    yield hasMark ? chunk.subarray(3) : chunk;
    isFirst = false;
  }
}

/** Tells a HAR (an object with `log.entries`) from other JSON, and JSON from what only begins like it. */
export const jsonKindOf = async (chunks: AsyncIterable<Uint8Array>): Promise<JsonKind> => {
  let isHar = false;
  const walker = new JsonWalker({
    open: (path, kind) => {
      if (kind === 'array' && isEntries(path)) isHar = true;
    },
  });
  try {
    for await (const chunk of withoutMark(chunks)) {
      walker.write(chunk);
      if (isHar) return 'har';
    }
    return 'json';
  } catch (error) {
    if (error instanceof JsonError) return isHar ? 'har' : 'none';
    throw error;
  }
};

export interface HarRow {
  /** Number of the entry in the file, from 1. */
  readonly n: number;
  readonly method: string;
  readonly url: string;
  readonly status: number;
  /** Bytes of the response's body. */
  readonly size: number;
  readonly ms: number;
}

export interface HarPreview {
  readonly kind: 'har';
  readonly rows: HarRow[];
  readonly hasMore: boolean;
  /** Why the rows end before the file does. */
  readonly problem?: string;
}

type Facts = Record<string, JsonScalar>;

const numberOf = (value: JsonScalar | undefined) => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
const textOf = (value: JsonScalar | undefined) => shorten(typeof value === 'string' ? value : '', 2000);

const rowOf = (n: number, facts: Facts): HarRow => ({
  n,
  method: textOf(facts['request.method']),
  url: textOf(facts['request.url']),
  status: numberOf(facts['response.status']),
  size: Math.max(0, numberOf(facts['response.content.size']) || numberOf(facts['response.bodySize'])),
  ms: Math.max(0, numberOf(facts['time'])),
});

const isInEntry = (path: JsonPath) => path.length >= 3 && path[0] === 'log' && path[1] === 'entries';
/** Deeper members (headers, bodies, timings) are not shown, so their names need not be put together. */
const deepest = 6;

export const previewHar = async (content: Content, window: PreviewWindow): Promise<HarPreview> => {
  const wanted = createWindow<HarRow>(window);
  let facts: Facts = {};
  let isDone = false;
  const walker = new JsonWalker({
    value: (path, value) => {
      if (isInEntry(path) && path.length <= deepest && wanted.wantsNext()) facts[path.slice(3).join('.')] = value;
    },
    close: (path) => {
      if (isDone || path.length !== 3 || !isInEntry(path)) return;
      isDone = !wanted.add(rowOf(Number(path[2]) + 1, facts));
      facts = {};
    },
  });
  const answer = () => ({ kind: 'har' as const, rows: wanted.rows, hasMore: wanted.hasMore() });
  try {
    for await (const chunk of withoutMark(scan(content))) {
      walker.write(chunk);
      if (isDone) return answer();
    }
    if (content.size > scanBytes) return { ...answer(), hasMore: true };
    walker.end();
    return answer();
  } catch (error) {
    if (error instanceof JsonError) return { ...answer(), problem: error.message };
    throw error;
  }
};
