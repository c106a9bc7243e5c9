import type { JsonPath } from './json-walker.ts';
import { JsonError, JsonWalker } from './json-walker.ts';

const isEntries = (path: JsonPath) => path.length === 2 && path[0] === 'log' && path[1] === 'entries';

export type JsonKind = 'har' | 'json' | 'none';

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
