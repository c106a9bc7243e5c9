import type { HarHeader, HarOrigin } from '@rushhour/protocol';
import { answerBody, type RecordedBody, requestBody } from './har-bodies.ts';
import { cleanHeaders, type HarJson, headerOf, listOf, numberOf, objectOf, textOf } from './har-headers.ts';
import { HarError, type HarOddity, type HarWarning, HarWarnings } from './har-warnings.ts';

/** One request and its response, validated. */
export interface RecordedEntry {
  /** In the recording, from 0. */
  readonly index: number;
  readonly url: URL;
  readonly method: string;
  readonly version: HarOrigin['version'];
  readonly headers: readonly HarHeader[];
  readonly body: Buffer | undefined;
  readonly page: string;
  readonly connection: string | undefined;
  /** Since 1970; that of the entry before where it is not known. */
  readonly startedMs: number;
  /** From sending to the last byte. */
  readonly tookMs: number;
  /** From the request to the first byte of the answer. */
  readonly waitMs: number;
  readonly status: number;
  readonly answerHeaders: readonly HarHeader[];
  readonly answer: RecordedBody;
  readonly mime: string;
  /** As the browser calls it, such as `stylesheet`. */
  readonly kind: string;
}

export interface Recording {
  /** In the order in which they began. */
  readonly entries: readonly RecordedEntry[];
  readonly pages: ReadonlyMap<string, string>;
  readonly warnings: readonly HarWarning[];
}

/** Reads a HAR 1.2 leniently. Throws `HarError` when it cannot be read. */
export const readRecording = (text: string): Recording => {
  const log = objectOf(objectOf(parse(text))['log']);
  if (!Array.isArray(log['entries'])) throw new HarError('HAR_BROKEN', 'is no HAR: it has no log with entries');
  const warnings = new HarWarnings();
  const entries: RecordedEntry[] = [];
  let lastMs = 0;
  for (const [index, value] of log['entries'].entries()) {
    const entry = readEntry(objectOf(value), index, lastMs, (code) => warnings.add(code, index));
    if (entry === undefined) continue;
    lastMs = entry.startedMs;
    entries.push(entry);
  }
  entries.sort((a, b) => a.startedMs - b.startedMs || a.index - b.index);
  const pages = listOf(log['pages']).map(objectOf);
  return {
    entries,
    pages: new Map(pages.map(({ id, title }) => [textOf(id), textOf(title) || textOf(id)])),
    warnings: warnings.all,
  };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new HarError('HAR_BROKEN', `is not whole: ${(cause as Error).message.slice(0, 200)}`);
  }
};

const readEntry = (
  entry: HarJson,
  index: number,
  lastMs: number,
  warn: (code: HarOddity) => void,
): RecordedEntry | undefined => {
  const request = objectOf(entry['request']);
  const response = objectOf(entry['response']);
  const method = textOf(request['method']).toUpperCase();
  const url = URL.canParse(textOf(request['url'])) ? new URL(textOf(request['url'])) : undefined;
  const oddity = whyNot(entry, { method, url, status: numberOf(response['status']) ?? 0 });
  if (oddity !== undefined || url === undefined) {
    warn(oddity ?? 'HAR_BROKEN_ENTRY');
    return undefined;
  }
  const sent = cleanHeaders(request['headers']);
  const received = cleanHeaders(response['headers']);
  if (sent.isUnsound || received.isUnsound) warn('HAR_HEADER_UNSOUND');
  const body = requestBody(request, sent.headers, warn);
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) warn('HAR_BODY_ON_GET');
  return {
    index,
    url,
    method,
    version: versionOf(request, response),
    headers: sent.headers,
    body,
    page: textOf(entry['pageref']),
    connection: textOf(entry['connection']) || textOf(entry['_connectionId']) || undefined,
    ...timesOf(entry, lastMs, warn),
    status: numberOf(response['status']) as number,
    answerHeaders: received.headers,
    answer: answerBody(response, warn),
    mime: mimeOf(response, received.headers, url, warn),
    kind: textOf(entry['_resourceType']),
  };
};

interface Outline {
  readonly method: string;
  readonly url: URL | undefined;
  readonly status: number;
}

/** Why an entry cannot be played. */
const whyNot = (entry: HarJson, { method, url, status }: Outline): HarOddity | undefined => {
  if (url === undefined || !/^[A-Z]{1,32}$/.test(method) || method === 'CONNECT') return 'HAR_BROKEN_ENTRY';
  if (/^wss?:$/.test(url.protocol) || status === 101 || entry['_webSocketMessages'] !== undefined) {
    return 'HAR_WEBSOCKET';
  }
  if (!/^https?:$/.test(url.protocol) || url.hostname === '') return 'HAR_SCHEME';
  if (status < 200 || status > 599) return 'HAR_UNANSWERED';
  return textOf(entry['_fromCache']) === '' ? undefined : 'HAR_FROM_CACHE';
};

const versionOf = (request: HarJson, response: HarJson): HarOrigin['version'] => {
  const written = (textOf(response['httpVersion']) || textOf(request['httpVersion'])).toLowerCase();
  if (/^(h3|http\/3)/.test(written)) return '3';
  return /^(h2|http\/2)/.test(written) ? '2' : '1.1';
};

const timesOf = (entry: HarJson, lastMs: number, warn: (code: HarOddity) => void) => {
  const started = Date.parse(textOf(entry['startedDateTime']));
  if (!Number.isFinite(started)) warn('HAR_TIME_UNSOUND');
  const { send, wait, receive } = objectOf(entry['timings']);
  const parts = [send, wait, receive].map((part) => numberOf(part) ?? 0);
  const whole = parts.reduce((sum, part) => sum + part, 0);
  return {
    startedMs: Number.isFinite(started) ? started : lastMs,
    tookMs: whole > 0 ? whole : (numberOf(entry['time']) ?? 0),
    waitMs: numberOf(wait) ?? 0,
  };
};

const byExtension: Readonly<Record<string, string>> = {
  ...{ css: 'text/css', js: 'text/javascript', mjs: 'text/javascript', json: 'application/json', html: 'text/html' },
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', svg: 'image/svg+xml' },
  ...{ webp: 'image/webp', avif: 'image/avif', ico: 'image/x-icon', woff: 'font/woff', woff2: 'font/woff2' },
  ...{ ttf: 'font/ttf', otf: 'font/otf', mp4: 'video/mp4', webm: 'video/webm', mp3: 'audio/mpeg' },
};

const mimeOf = (
  response: HarJson,
  headers: readonly HarHeader[],
  url: URL,
  warn: (code: HarOddity) => void,
): string => {
  const content = objectOf(response['content']);
  const written = textOf(content['mimeType']).toLowerCase();
  if (written !== '' && written !== 'x-unknown') return written;
  if ((numberOf(content['size']) ?? 0) > 0) warn('HAR_MIME_MISSING');
  const extension = /\.([a-z0-9]{2,5})$/i.exec(url.pathname)?.[1]?.toLowerCase() ?? '';
  return headerOf(headers, 'content-type')?.toLowerCase() ?? byExtension[extension] ?? '';
};
