import type { Caller } from '../../caller.ts';
import { ApiError } from '../../errors.ts';
import { matchesEtag } from '../../etag.ts';
import type { Download } from '../../handler.ts';
import type { FileRow } from '../../store/assets/files.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import { canShowInline } from './upload/sniff.ts';

interface RangeRequest {
  readonly range?: string | undefined;
  readonly ifRange?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

interface Representation {
  readonly sha256: string;
  readonly size: number;
}

/** How to answer a download. `end` is the first byte not sent; nothing is sent with 304 and 416. */
interface RangeAnswer {
  readonly status: 200 | 206 | 304 | 416;
  readonly start: number;
  readonly end: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Strong: the name of the content is its hash. */
const etagOf = (sha256: string) => `"${sha256}"`;

/** RFC 9530, of the whole content also when a part of it is sent. */
const reprDigestOf = (sha256: string) => `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`;

type Selection = 'all' | 'unsatisfiable' | { readonly start: number; readonly end: number };

/**
 * RFC 9110, 14.1.2, one range. What is not understood, not valid or more than one range is as if it were not there, as
 * the standard allows.
 */
export const selectRange = (header: string, size: number): Selection => {
  const list = /^\s*bytes\s*=(.*)$/i.exec(header)?.[1];
  const ranges = list
    ?.split(',')
    .map((range) => range.trim())
    .filter((range) => range !== '');
  const parts = ranges?.length === 1 ? /^(\d*)-(\d*)$/.exec(ranges[0] as string) : null;
  if (!parts) return 'all';
  const [, first = '', last = ''] = parts;
  if (first === '') return selectSuffix(last, size);
  const start = Number(first);
  const end = last === '' ? size : Number(last) + 1;
  if (end <= start && last !== '') return 'all';
  return start < size ? { start, end: Math.min(end, size) } : 'unsatisfiable';
};

const selectSuffix = (length: string, size: number): Selection => {
  if (length === '') return 'all';
  if (Number(length) === 0) return 'unsatisfiable';
  // The last bytes of nothing are all of it, and no Content-Range can say so.
  return size === 0 ? 'all' : { start: Math.max(0, size - Number(length)), end: size };
};

/** If-Range compares strongly. A date never matches, for downloads carry none. */
const isStillCurrent = (ifRange: string | undefined, etag: string) => ifRange === undefined || ifRange.trim() === etag;

/** The order of RFC 9110, 13.2.2: If-None-Match, then If-Range, then Range. */
export const answerRange = (request: RangeRequest, { sha256, size }: Representation): RangeAnswer => {
  const etag = etagOf(sha256);
  if (matchesEtag(request.ifNoneMatch, etag)) return { status: 304, start: 0, end: 0, headers: { etag } };
  const range = isStillCurrent(request.ifRange, etag) ? (request.range ?? '') : '';
  const selection = selectRange(range, size);
  if (selection === 'unsatisfiable') {
    return { status: 416, start: 0, end: 0, headers: { 'accept-ranges': 'bytes', 'content-range': `bytes */${size}` } };
  }
  const { start, end } = selection === 'all' ? { start: 0, end: size } : selection;
  const headers = {
    etag,
    'accept-ranges': 'bytes',
    'content-length': String(end - start),
    'repr-digest': reprDigestOf(sha256),
  };
  if (selection === 'all') return { status: 200, start, end, headers };
  return { status: 206, start, end, headers: { ...headers, 'content-range': `bytes ${start}-${end - 1}/${size}` } };
};

const encodeName = (name: string) =>
  encodeURIComponent(name).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

/** RFC 6266: a plain name for old programs, the real one beside it. */
const dispositionOf = (how: 'inline' | 'attachment', name: string) => {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  return `${how}; filename="${plain}"; filename*=UTF-8''${encodeName(name.toWellFormed())}`;
};

const rangeRequestOf = (caller: Caller) => ({
  range: caller.header('range'),
  ifRange: caller.header('if-range'),
  ifNoneMatch: caller.header('if-none-match'),
});

/** The content or a range of it. What a browser could run is never shown in place. */
export const downloadFile = async (
  blobs: Blobs,
  file: FileRow,
  { inline, caller }: { inline: boolean; caller: Caller },
): Promise<Download> => {
  const { status, start, end, headers } = answerRange(rangeRequestOf(caller), file);
  if (status === 416) {
    for (const [name, value] of Object.entries(headers)) caller.setHeader(name, value);
    const message = `the file has ${file.size} bytes`;
    throw new ApiError('rangeNotSatisfiable', 'RANGE_NOT_SATISFIABLE', message, { size: file.size });
  }
  const isInline = inline && canShowInline(file.mime);
  const type = isInline ? file.mime : 'application/octet-stream';
  const disposition = { 'content-disposition': dispositionOf(isInline ? 'inline' : 'attachment', file.name) };
  if (status === 304) return { status, type, body: '', headers };
  const body = await blobs.read(file.sha256, { start, end });
  return { status, type, body, headers: { ...headers, ...disposition } };
};
