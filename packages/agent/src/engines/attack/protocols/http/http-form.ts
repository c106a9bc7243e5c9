import type { HttpAnswer, HttpRequest } from '@rushhour/protocol';
import { sha256Of } from '../../proof.ts';
import type { HttpMessage } from './http-reader.ts';

/** Carries the token of the attempt in requests, and token and proof in answers. */
export const markerHeader = 'x-traffic-test';

/** Headers that a proxy may change or that are added by the agent. */
export const hopHeaders = new Set([
  'connection',
  'content-length',
  'date',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'server',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  markerHeader,
]);

type Pairs = readonly (readonly [string, string])[];
type Named = readonly { readonly name: string; readonly value: string }[];

export const pairsOf = (headers: Named): Pairs =>
  headers.map(({ name, value }) => [name.trim().toLowerCase(), value.trim()]);

/** The headers named in `wanted` with their values in `found`, sorted. */
const comparable = (wanted: Named, found: Pairs): string => {
  const names = new Set(
    pairsOf(wanted)
      .map(([name]) => name)
      .filter((name) => !hopHeaders.has(name)),
  );
  return found
    .filter(([name]) => names.has(name))
    .map(([name, value]) => `${name}:${value}\n`)
    .toSorted()
    .join('');
};

/** Equal on both ends unless the request was changed in transit. */
export const requestHash = (wanted: HttpRequest, seen: { line: string; headers: Pairs; body: Uint8Array }): string =>
  sha256Of(seen.line, '\n', comparable(wanted.headers, seen.headers), '\n', seen.body);

/** The fields of an answer before and after its body: a path may move them. */
export const answerFields = ({ headers, trailers = [] }: HttpAnswer): HttpAnswer['headers'] => [
  ...headers,
  ...trailers,
];

/** Equal on both ends unless the answer was changed in transit. */
export const answerHash = (wanted: HttpAnswer, seen: { status: number; headers: Pairs; body: Uint8Array }): string =>
  sha256Of(String(seen.status), '\n', comparable(answerFields(wanted), seen.headers), '\n', seen.body);

/** Method and target of a request line, without the version. */
export const lineOf = ({ startLine }: Pick<HttpMessage, 'startLine'>): string =>
  startLine.replace(/ HTTP\/[\d.]+$/i, '');

export const statusIn = ({ startLine }: Pick<HttpMessage, 'startLine'>): number =>
  Number(/^HTTP\/\d(?:\.\d)? (\d{3})/.exec(startLine)?.[1] ?? 0);

/** Latin-1 when possible, otherwise UTF-8. */
export const textBytes = (text: string): Buffer => Buffer.from(text, /^[\0-\xff]*$/.test(text) ? 'latin1' : 'utf8');

const asChunks = (body: Buffer): Buffer =>
  body.length === 0
    ? Buffer.from('0\r\n\r\n')
    : Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);

interface Written {
  readonly startLine: string;
  readonly headers: Named;
  readonly body: Buffer;
  readonly isChunked: boolean;
  /** Prepended unless already present. */
  readonly added: Named;
}

/** A request with these headers and no others. */
export const exactBytes = (startLine: string, headers: Named, body: Buffer): Buffer =>
  Buffer.concat([
    textBytes(`${startLine}\r\n${headers.map(({ name, value }) => `${name}: ${value}\r\n`).join('')}\r\n`),
    body,
  ]);

/** The content of well-formed chunks without trailers; undefined for everything else. */
const dechunked = (body: Buffer): Buffer | undefined => {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at);
    const size =
      end < 0 ? undefined : /^([0-9a-f]{1,7})[ \t]*(?:;[^\r\n]*)?$/i.exec(body.toString('latin1', at, end))?.[1];
    if (size === undefined) return undefined;
    const from = end + 2;
    const length = Number.parseInt(size, 16);
    if (body.toString('latin1', from + length, from + length + 2) !== '\r\n') return undefined;
    if (length === 0) return Buffer.concat(parts);
    parts.push(body.subarray(from, from + length));
    at = from + length + 2;
  }
};

/** The part of a body that belongs to a request with these headers; what follows it is another message. */
export const framedBody = ({ exact, headers }: HttpRequest, body: Buffer): Buffer => {
  if (exact !== true) return body;
  const named = pairsOf(headers);
  const encoding = named.find(([name]) => name === 'transfer-encoding')?.[1];
  if (encoding !== undefined) return /chunked$/i.test(encoding) ? (dechunked(body) ?? body) : body;
  const length = Number(named.find(([name]) => name === 'content-length')?.[1] ?? 0);
  return Number.isInteger(length) && length >= 0 ? body.subarray(0, length) : body;
};

/** A message in wire format. */
export const writeMessage = ({ startLine, headers, body, isChunked, added }: Written): Buffer => {
  const names = new Set(headers.map(({ name }) => name.trim().toLowerCase()));
  const length = names.has('transfer-encoding') ? [] : [{ name: 'Content-Length', value: String(body.length) }];
  const framing = isChunked ? [{ name: 'Transfer-Encoding', value: 'chunked' }] : length;
  const own = [...added, ...framing].filter(({ name }) => !names.has(name.toLowerCase()));
  const lines = [...own, ...headers].map(({ name, value }) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([textBytes(`${startLine}\r\n${lines}\r\n`), isChunked ? asChunks(body) : body]);
};
