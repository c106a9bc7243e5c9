import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { findTaken, type HarHeader, type HarTake } from '@rushhour/protocol';
import { RE2JS } from 're2js';

const freshMsOf = ({ headers }: Answer): number => {
  const control = headerOf(headers, 'cache-control')?.toLowerCase() ?? '';
  if (/no-store|no-cache/.test(control)) return 0;
  const maxAge = /max-age=(\d+)/.exec(control)?.[1];
  if (maxAge !== undefined) return Number(maxAge) * 1000;
  const expires = Date.parse(headerOf(headers, 'expires') ?? '');
  const date = Date.parse(headerOf(headers, 'date') ?? '');
  // Recorded answers have old dates: the lifetime at recording time counts.
  return Number.isNaN(expires) ? 0 : Math.max(0, expires - (Number.isNaN(date) ? Date.now() : date));
};

/** The browser cache of one user. Only freshness is kept, not content. */
export class BrowserCache {
  readonly #freshUntil = new Map<string, number>();

  keep(address: string, method: string, answer: Answer): void {
    const freshMs = method === 'GET' && answer.status === 200 ? freshMsOf(answer) : 0;
    if (freshMs > 0) this.#freshUntil.set(address, performance.now() + freshMs);
  }

  holds(address: string, method: string): boolean {
    return method === 'GET' && (this.#freshUntil.get(address) ?? 0) > performance.now();
  }
}

const maxPatternBytes = 4 * 1024 * 1024;

const compiled = new Map<string, RE2JS>();
const patternOf = (regex: string): RE2JS => {
  const known = compiled.get(regex) ?? RE2JS.compile(regex);
  compiled.set(regex, known);
  return known;
};

/** RE2: linear time for any pattern. */
const findMatch = (regex: string, text: string): string | undefined => {
  const matcher = patternOf(regex).matcher(text.slice(0, maxPatternBytes));
  if (!matcher.find()) return undefined;
  return (matcher.groupCount() > 0 ? matcher.group(1) : matcher.group()) ?? undefined;
};

/** The value a rule extracts from an answer; undefined when it is missing. */
export const takenOf = (take: HarTake, answer: Answer): string | undefined => {
  const { status, headers } = answer;
  return findTaken(take, { status, headers, body: () => contentOf(answer)?.toString('utf8') ?? '' }, findMatch);
};

/** The response to an entry. */
export interface Answer {
  readonly status: number;
  readonly headers: readonly HarHeader[];
  /** Encoded as received; empty unless `keepsBody` is set on the request. */
  readonly body: Buffer;
}

/** A request, independent of the HTTP version. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly authority: string;
  readonly scheme: 'http' | 'https';
  readonly headers: readonly HarHeader[];
  readonly body: Buffer | undefined;
  /** Whether the body of the response is needed. */
  readonly keepsBody: boolean;
}

const maxBytes = 256 * 1024 * 1024;

const inflate = (bytes: Buffer): Buffer => {
  // Many servers send raw deflate without the zlib header.
  const hasHeader = ((bytes[0] ?? 0) & 0x0f) === 8;
  return hasHeader
    ? inflateSync(bytes, { maxOutputLength: maxBytes })
    : inflateRawSync(bytes, { maxOutputLength: maxBytes });
};

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gunzipSync(bytes, { maxOutputLength: maxBytes }),
  'x-gzip': (bytes) => gunzipSync(bytes, { maxOutputLength: maxBytes }),
  deflate: inflate,
  br: (bytes) => brotliDecompressSync(bytes, { maxOutputLength: maxBytes }),
  zstd: (bytes) => zstdDecompressSync(bytes, { maxOutputLength: maxBytes }),
};

export const headerOf = (headers: readonly HarHeader[], name: string): string | undefined =>
  headers.find((header) => header.name.toLowerCase() === name)?.value;

/** The decoded content of an answer; undefined when decoding fails. */
export const contentOf = ({ headers, body }: Answer): Buffer | undefined => {
  const encodings = (headerOf(headers, 'content-encoding') ?? '').toLowerCase().split(',');
  let content = body;
  for (const encoding of encodings.map((one) => one.trim()).toReversed()) {
    if (encoding === '' || encoding === 'identity' || content.length === 0) continue;
    try {
      content = (decoders[encoding] as (typeof decoders)[string])(content);
    } catch {
      return undefined;
    }
  }
  return content;
};
