import { hash } from 'node:crypto';
import type { HarAnswer, HarEntry, HarScript, HarStep } from '@rushhour/protocol';
import { headerOf, withoutHeaders } from './har-headers.ts';
import type { RecordedEntry, Recording } from './har-recording.ts';
import { maskedHeader } from './har-redaction.ts';
import type { CompiledRequest } from './har-request.ts';
import type { HarParams } from './har-selection.ts';

const sha256Of = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');

const encodings = ['gzip', 'x-gzip', 'deflate', 'br', 'zstd'];
const ofEncoding = new Set(['content-encoding']);

const hasNoBody = ({ method, status }: Pick<RecordedEntry, 'method' | 'status'>): boolean =>
  method === 'HEAD' || status === 204 || status === 304;

const bodyOf = ({ answer }: RecordedEntry, { mode, missingBody }: HarParams['server']): HarAnswer['body'] => {
  if (answer.bytes === undefined) return missingBody === 'pad' ? { size: answer.size } : { base64: '' };
  return mode === 'recorded' ? { base64: answer.bytes.toString('base64') } : { size: answer.size };
};

/** The response of the server side to an entry. */
export const answerOf = (
  entry: RecordedEntry,
  { path: asked, body }: Pick<CompiledRequest, 'path' | 'body'>,
  params: HarParams,
): HarAnswer => {
  const at = asked.indexOf('?');
  const headers = withoutHeaders(entry.answerHeaders, ofEncoding);
  const encoding = headerOf(entry.answerHeaders, 'content-encoding')?.toLowerCase().trim() ?? '';
  const { latency, latencyFactor } = params.server;
  return {
    index: entry.index,
    host: entry.url.hostname,
    method: entry.method,
    path: at < 0 ? asked : asked.slice(0, at),
    query: at < 0 ? '' : asked.slice(at + 1),
    bodySha256: body === undefined ? '' : sha256Of(body),
    status: entry.status,
    headers: params.redactSecrets ? headers.map(maskedHeader) : headers,
    body: bodyOf(entry, params.server),
    encoding: encodings.includes(encoding) ? encoding : '',
    delayMs: latency === 'recorded' ? Math.round(entry.waitMs * latencyFactor) : 0,
  };
};

/** The expected response. Only recorded values that the server side reproduces can be checked. */
export const expectationOf = (
  entry: RecordedEntry,
  { checks, server: { mode, missingBody } }: HarParams,
): HarEntry['expect'] => {
  const { bytes, size } = entry.answer;
  const knowsSize = mode !== 'echo' && !hasNoBody(entry) && (bytes !== undefined || missingBody === 'pad');
  return {
    ...(checks.status && { status: entry.status }),
    ...(checks.bodySize && knowsSize && { bodySize: size }),
    ...(checks.bodySha256 && knowsSize && mode === 'recorded' && bytes && { bodySha256: sha256Of(bytes) }),
  };
};

/** Positions of entries that are sent concurrently. */
type Batch = number[];

const endOf = ({ startedMs, tookMs }: RecordedEntry): number => startedMs + tookMs;

/** Pages in the order of their first entries; what belongs to no page is one of its own. */
const pagesOf = (entries: readonly RecordedEntry[]): Map<string, Batch> => {
  const pages = new Map<string, Batch>();
  for (const [position, { page }] of entries.entries()) {
    const positions = pages.get(page) ?? [];
    pages.set(page, positions);
    positions.push(position);
  }
  return pages;
};

const batchesOf = (entries: readonly RecordedEntry[], page: Batch, windowMs: number): Batch[] => {
  const batches: Batch[] = [];
  let firstMs = Number.NEGATIVE_INFINITY;
  for (const position of page) {
    const { startedMs } = entries[position] as RecordedEntry;
    const batch = batches.at(-1);
    if (batch !== undefined && startedMs - firstMs < windowMs) batch.push(position);
    else {
      batches.push([position]);
      firstMs = startedMs;
    }
  }
  return batches;
};

/** The pause between the last response of one batch and the first request of the next. */
const pauseOf = (gapMs: number, { timing, minSleepMs, maxSleepMs, fixedSleepMs }: HarParams): number => {
  if (timing === 'none') return 0;
  if (timing === 'fixed') return fixedSleepMs;
  return gapMs < minSleepMs ? 0 : Math.round(Math.min(gapMs, maxSleepMs));
};

/** What a user does, in the order of the recording. */
export const stepsOf = (
  entries: readonly RecordedEntry[],
  pages: Recording['pages'],
  params: HarParams,
): HarScript['pages'] => {
  let lastEndMs: number | undefined;
  return [...pagesOf(entries)].map(([id, page]) => ({
    name: pages.get(id) ?? id,
    steps: batchesOf(entries, page, params.batchWindowMs).map((batch): HarStep => {
      const inBatch = batch.map((position) => entries[position] as RecordedEntry);
      const startedMs = inBatch[0]?.startedMs ?? 0;
      const pauseMs = lastEndMs === undefined ? 0 : pauseOf(startedMs - lastEndMs, params);
      lastEndMs = Math.max(...inBatch.map(endOf));
      return { pauseMs, entries: batch };
    }),
  }));
};

const isRedirectTo = (from: RecordedEntry, to: RecordedEntry): boolean => {
  const location = from.status >= 300 && from.status < 400 ? headerOf(from.answerHeaders, 'location') : undefined;
  if (location === undefined || !URL.canParse(location, from.url)) return false;
  const { origin, pathname, search } = new URL(location, from.url);
  return to.url.origin === origin && to.url.pathname === pathname && to.url.search === search;
};

/** Cookies from a jar are those of answers that had come before. */
const givesCookie = (from: RecordedEntry, to: RecordedEntry): boolean =>
  headerOf(from.answerHeaders, 'set-cookie') !== undefined &&
  endOf(from) <= to.startedMs &&
  (from.url.hostname === to.url.hostname || to.headers.some(({ name }) => name.toLowerCase() === 'cookie'));

/** Positions of entries of the same batch that one must wait for. `gives` tells which values it takes from which. */
export const waitsOf = (
  entries: readonly RecordedEntry[],
  pages: HarScript['pages'],
  { cookies, gives }: { cookies: HarParams['cookies']; gives: (from: number, to: number) => boolean },
): ReadonlyMap<number, readonly number[]> => {
  const waits = new Map<number, number[]>();
  for (const { entries: batch } of pages.flatMap(({ steps }) => steps)) {
    for (const [at, to] of batch.entries()) {
      const target = entries[to] as RecordedEntry;
      const before = batch.slice(0, at).filter((from) => {
        const source = entries[from] as RecordedEntry;
        return gives(from, to) || isRedirectTo(source, target) || (cookies === 'jar' && givesCookie(source, target));
      });
      if (before.length > 0) waits.set(to, before);
    }
  }
  return waits;
};
