import { isUtf8 } from 'node:buffer';
import type { HarEntry, HarHeader } from '@rushhour/protocol';
import { framingHeaders, headerOf, withoutHeaders } from './har-headers.ts';
import type { RecordedEntry } from './har-recording.ts';
import { HarMarks, maskedAddress, maskedHeader, type Placed } from './har-redaction.ts';
import type { HarParams } from './har-selection.ts';

/** A recorded text of one request that is replaced by another value. */
export interface Substitution {
  readonly slot: number;
  readonly part: 'url' | 'header' | 'body' | 'any';
  readonly match: string;
  /** Called when the text is nowhere. */
  readonly onMissing: () => void;
}

export interface CompiledRequest {
  readonly request: Pick<HarEntry, 'path' | 'headers'> & { readonly body?: NonNullable<HarEntry['body']> };
  /** As it would be sent with what was recorded. */
  readonly path: string;
  readonly body: Buffer | undefined;
}

interface Spelling {
  readonly find: string;
  readonly as: Placed['as'];
}

const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

const inAddress = (match: string): Spelling[] => [
  // A match of several values is taken literally.
  { find: match, as: /[/?&=#]/.test(match) ? 'address' : 'url' },
  { find: encode(match), as: 'url' },
  { find: encode(match).replaceAll('%20', '+'), as: 'url' },
];

const inBody = (match: string, type: string): Spelling[] => {
  if (/urlencoded/i.test(type)) return inAddress(match);
  if (!/json/i.test(type)) return [{ find: match, as: 'plain' }];
  return [
    { find: JSON.stringify(match).slice(1, -1), as: 'json' },
    { find: match, as: 'plain' },
  ];
};

interface Texts {
  path: string;
  headers: HarHeader[];
  body: string | undefined;
}

const markValue = (texts: Texts, marks: HarMarks, { slot, part, match, onMissing }: Substitution): void => {
  let isPlaced = false;
  const put = (text: string, spellings: readonly Spelling[]): string => {
    const marked = marks.put(text, spellings, slot);
    isPlaced ||= marked !== undefined;
    return marked ?? text;
  };
  const isIn = (name: Substitution['part']) => part === name || part === 'any';
  const type = headerOf(texts.headers, 'content-type') ?? '';
  if (isIn('url')) texts.path = put(texts.path, inAddress(match));
  if (isIn('header')) {
    texts.headers = texts.headers.map(({ name, value }) => ({
      name,
      value: put(value, [{ find: match, as: 'plain' }]),
    }));
  }
  if (isIn('body') && texts.body !== undefined) texts.body = put(texts.body, inBody(match, type));
  if (!isPlaced) onMissing();
};

const textsOf = (entry: RecordedEntry, params: HarParams): Texts => {
  const dropped = new Set(params.dropHeaders.map((name) => name.toLowerCase()));
  const added = new Set(params.addHeaders.map(({ name }) => name.toLowerCase()));
  if (params.cookies !== 'replay') dropped.add('cookie');
  return {
    path: `${entry.url.pathname}${entry.url.search}`,
    headers: [
      ...withoutHeaders(entry.headers, new Set([...dropped, ...added])),
      ...withoutHeaders(params.addHeaders, framingHeaders),
    ],
    body: entry.body !== undefined && isUtf8(entry.body) ? entry.body.toString('utf8') : undefined,
  };
};

/** The request of an entry: dropped headers removed, credentials masked, values marked. */
export const compileRequest = (
  entry: RecordedEntry,
  params: HarParams,
  substitutions: readonly Substitution[],
): CompiledRequest => {
  const marks = new HarMarks();
  const texts = textsOf(entry, params);
  for (const substitution of substitutions) markValue(texts, marks, substitution);
  if (params.redactSecrets) {
    texts.path = maskedAddress(texts.path);
    texts.headers = texts.headers.map(maskedHeader);
  }
  const { path, headers, body } = texts;
  const binary = body === undefined ? entry.body : undefined;
  return {
    request: {
      path: marks.templateOf(path),
      headers: headers.map(({ name, value }) => ({ name, value: marks.templateOf(value) })),
      ...(body !== undefined && { body: marks.templateOf(body) }),
      ...(binary !== undefined && { body: { base64: binary.toString('base64') } }),
    },
    path: marks.recordedOf(path),
    body: body === undefined ? binary : Buffer.from(marks.recordedOf(body)),
  };
};
