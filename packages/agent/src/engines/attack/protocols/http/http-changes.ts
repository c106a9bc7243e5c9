import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { HttpAnswer, HttpRequest, MessageChange } from '@rushhour/protocol';
import { answerFields, hopHeaders, pairsOf } from './http-form.ts';

type Pairs = readonly (readonly [name: string, value: string])[];

interface SeenRequest {
  readonly line: string;
  readonly headers: Pairs;
  readonly body: Buffer;
}

interface SeenAnswer {
  readonly status: number;
  readonly headers: Pairs;
  readonly body: Buffer;
}

const maxDecoded = 64 * 1024 * 1024;
const maxDetail = 300;
const maxChanges = 16;

const change = (part: MessageChange['part'], kind: MessageChange['kind'], detail: string): MessageChange => ({
  part,
  kind,
  detail: detail.length > maxDetail ? `${detail.slice(0, maxDetail - 1)}…` : detail,
});

/** True if nothing of the content is lost. */
export const isHarmless = (changes: readonly MessageChange[]): boolean =>
  changes.every(({ kind }) => kind !== 'changed');

const decodeOnce = (text: string) =>
  text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Percent-encoding as often as it was applied, up to three times. */
const decoded = (text: string): string => {
  let last = text;
  for (let round = 0; round < 3; round++) last = decodeOnce(last);
  return last;
};

/** Without empty and dot segments, as RFC 3986 removes them. */
const withoutDots = (path: string): string => {
  const kept: string[] = [];
  for (const segment of path.split(/[/\\]+/)) {
    if (segment === '..') kept.pop();
    else if (segment !== '.' && segment !== '') kept.push(segment);
  }
  return kept.join('/');
};

/** Equal for request lines that mean the same to a server. */
const meaningOf = (line: string): string => {
  const [method = '', ...rest] = line.split(' ');
  const target = rest.join(' ').replace(/^https?:\/\/[^/]*/i, '');
  const at = target.indexOf('?');
  const [path, query] = at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
  return `${method} ${withoutDots(decoded(path))}?${decoded(query.replaceAll('+', ' '))}`;
};

const valuesOf = (pairs: Pairs, name: string) => pairs.filter(([found]) => found === name).map(([, value]) => value);
const isSameText = (a: string, b: string) => a.replaceAll(/\s+/g, '') === b.replaceAll(/\s+/g, '');

/** Headers that proxies rewrite for their own purposes. */
const rewritten =
  /^(accept-encoding|x-forwarded-.*|forwarded|x-real-ip|vary|etag|cache-control|pragma|expires|age|accept-ranges)$/;
/** Names that many servers drop by default. */
const isOddName = (name: string) => !/^[a-z0-9-]+$/.test(name);

const headerChange = (part: 'request header' | 'response header', name: string, from: string[], to: string[]) => {
  const [before, after] = [from.join(', '), to.join(', ')];
  if (to.length === 0 && (isOddName(name) || rewritten.test(name))) return change(part, 'dropped', name);
  if (rewritten.test(name)) return change(part, 'normalised', `${name}: ${before} → ${after}`);
  if (to.length === 0) return change(part, 'changed', `${name} was removed`);
  const isSame =
    isSameText(before, after) || isSameText(from.join(';'), to.join(';')) || isSameMedia(name, before, after);
  if (isSame) return change(part, 'normalised', `${name}: ${before} → ${after}`);
  const isLonger = name === 'set-cookie' && from.every((one) => to.some((other) => other.startsWith(one)));
  return change(part, isLonger ? 'added' : 'changed', `${name}: ${before} → ${after}`);
};

const isSameMedia = (name: string, before: string, after: string) =>
  name === 'content-type' && before.split(';')[0]?.trim().toLowerCase() === after.split(';')[0]?.trim().toLowerCase();

const headerChanges = (part: 'request header' | 'response header', wanted: Pairs, seen: Pairs): MessageChange[] => {
  const names = new Set(wanted.map(([name]) => name).filter((name) => !hopHeaders.has(name)));
  return [...names].flatMap((name) => {
    const [from, to] = [valuesOf(wanted, name), valuesOf(seen, name)];
    const isEqual = from.toSorted().join('\n') === to.toSorted().join('\n');
    return isEqual ? [] : headerChange(part, name, from, to);
  });
};

const isSameJson = (a: Buffer, b: Buffer): boolean => {
  try {
    return JSON.stringify(JSON.parse(a.toString())) === JSON.stringify(JSON.parse(b.toString()));
  } catch {
    return false;
  }
};

const sizes = (from: Buffer, to: Buffer) => `${from.length} → ${to.length} bytes`;

/** What a path did to a request. Empty when it arrived as it was sent. */
export const requestChanges = (wanted: HttpRequest, body: Buffer, seen: SeenRequest): MessageChange[] => {
  const line = `${wanted.method} ${wanted.path}`;
  const lines =
    line === seen.line
      ? []
      : [
          change(
            'request line',
            meaningOf(line) === meaningOf(seen.line) ? 'normalised' : 'changed',
            `${line} → ${seen.line}`,
          ),
        ];
  const bodies = body.equals(seen.body)
    ? []
    : [change('request body', isSameJson(body, seen.body) ? 'normalised' : 'changed', sizes(body, seen.body))];
  const changes = [...lines, ...headerChanges('request header', pairsOf(wanted.headers), seen.headers), ...bodies];
  return changes.slice(0, maxChanges);
};

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gunzipSync(bytes, { maxOutputLength: maxDecoded }),
  'x-gzip': (bytes) => gunzipSync(bytes, { maxOutputLength: maxDecoded }),
  deflate: (bytes) => {
    // Some servers send raw deflate under this name.
    try {
      return inflateSync(bytes, { maxOutputLength: maxDecoded });
    } catch {
      return inflateRawSync(bytes, { maxOutputLength: maxDecoded });
    }
  },
  br: (bytes) => brotliDecompressSync(bytes, { maxOutputLength: maxDecoded }),
  zstd: (bytes) => zstdDecompressSync(bytes, { maxOutputLength: maxDecoded }),
};

/** The body without a content encoding that our server did not apply. */
export const withoutCoding = (answer: HttpAnswer, headers: Pairs, body: Buffer): { body: Buffer; coding?: string } => {
  const isOwn = answer.headers.some(({ name }) => /^content-encoding$/i.test(name.trim()));
  const coding = valuesOf(headers, 'content-encoding').join().trim().toLowerCase();
  const decode = decoders[coding];
  if (isOwn || decode === undefined || body.length === 0) return { body };
  try {
    return { body: decode(body), coding };
  } catch {
    return { body };
  }
};

/** Tags and the texts between them. */
const piecesOf = (html: string) => html.split(/(<[^>]*>)/).filter((piece) => piece.trim() !== '');

/** True if all of a text is still there, in order, with something added. */
const isAddition = (from: Buffer, to: Buffer): boolean => {
  if (from.length === 0 || to.length <= from.length) return false;
  const [before, after] = [from.toString('latin1'), to.toString('latin1')];
  let at = 0;
  return piecesOf(before).every((piece) => {
    const found = after.indexOf(piece.trim(), at);
    at = found + piece.trim().length;
    return found >= 0;
  });
};

/** What a path did to an answer of our server; `seen.body` is decoded. */
export const answerChanges = (
  wanted: { readonly answer: HttpAnswer; readonly body: Buffer },
  seen: SeenAnswer,
  coding: string | undefined,
): MessageChange[] => {
  const { answer, body } = wanted;
  const status =
    answer.status === seen.status ? [] : [change('status', 'changed', `${answer.status} → ${seen.status}`)];
  const coded = coding === undefined ? [] : [change('response body', 'compressed', coding)];
  const bodies = body.equals(seen.body)
    ? []
    : [change('response body', isAddition(body, seen.body) ? 'added' : 'changed', sizes(body, seen.body))];
  return [
    ...status,
    ...headerChanges('response header', pairsOf(answerFields(answer)), seen.headers),
    ...coded,
    ...bodies,
  ].slice(0, maxChanges);
};
