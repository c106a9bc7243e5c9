import type { Caller } from '../../caller.ts';
import { ApiError } from '../../errors.ts';
import type { Download } from '../../handler.ts';
import type { FileRow } from '../../store/assets/files.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import { answerRange } from './upload/range.ts';
import { canShowInline } from './upload/sniff.ts';

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
