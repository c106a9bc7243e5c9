import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FileUpload } from '@rushhour/contract';
import type { Caller } from '../../../caller.ts';
import { ApiError, conflict, forbidden, invalid, notFound, orNotFound, tooMany } from '../../../errors.ts';
import { countOpenUploads, type FileRow, files, filesWith } from '../../../store/assets/files.ts';
import type { Staged } from '../../../store/blobs/blobs.ts';
import { explained } from '../refusals.ts';
import type { CategoryName } from './category.ts';
import { type IntakeDeps, inspect, type NewFileRequest, tagsOf } from './new-file.ts';

/** Where a chunk of an upload belongs. `end` is the byte after its last. */
interface ChunkRange {
  readonly start: number;
  readonly end: number;
  readonly total: number;
}

/** Reads `bytes a-b/total` of an upload; the total must be known, for it was announced when the upload was opened. */
export const parseContentRange = (header: string | undefined): ChunkRange => {
  const parts = /^\s*bytes\s+(\d{1,15})-(\d{1,15})\/(\d{1,15})\s*$/i.exec(header ?? '');
  const [start, last, total] = (parts ?? []).slice(1).map(Number);
  if (start === undefined || last === undefined || total === undefined || last < start || last >= total) {
    const message = 'Content-Range must be bytes FIRST-LAST/TOTAL with FIRST ≤ LAST < TOTAL';
    throw invalid([{ path: '', code: 'BAD_CONTENT_RANGE', message }], 'BAD_CONTENT_RANGE');
  }
  return { start, end: last + 1, total };
};

const expiryMs = 24 * 3_600_000;
/** Unfinished uploads of one user. */
const maxOpenUploads = 20;

interface Chunk {
  readonly stream: Readable | undefined;
  readonly contentRange: string | undefined;
}

/** Opens an upload of announced size; its bytes come by `PUT /files/{id}/content`. */
export const openUpload = async (
  { store, blobs }: IntakeDeps,
  request: NewFileRequest & { size: number },
  caller: Caller,
) => {
  if (request.unpack) {
    const message = 'an archive is unpacked when it comes in one request';
    throw invalid([{ path: '/unpack', code: 'NOT_RESUMABLE', message }]);
  }
  if (request.size === 0) throw invalid([{ path: '/size', code: 'MINIMUM', message: 'must be at least 1' }]);
  const part = randomUUID();
  const { name, category, source = 'upload', size, expectSha256 = '', onDuplicate = 'reuse' } = request;
  const empty = { kind: '', mime: '', md5: '', sha1: '', sha256: '', sha3_384: '', original_sha256: '', problem: '' };
  await explained(() => blobs.openPart(part));
  try {
    return await store.change(caller, async (tx) => {
      if ((await countOpenUploads(tx, caller.userId)) >= maxOpenUploads) {
        throw tooMany(
          'TOO_MANY_OPEN_UPLOADS',
          `more than ${maxOpenUploads} unfinished uploads: complete or delete some`,
          60,
        );
      }
      const upload = { part, expectSha256, onDuplicate };
      const expiresAt = new Date(Date.now() + expiryMs).toISOString();
      const { first_seen_at = tx.now } = request;
      const facts = { name, category, source, size, tags: tagsOf(request, name), first_seen_at };
      const id = await files.insert(tx, { ...facts, ...empty, state: 'uploading', upload, expiresAt });
      return { data: id, duplicate: false };
    });
  } catch (error) {
    await blobs.removePart(part);
    throw error;
  }
};

/** How far an upload is, or null when none is under way. */
export const uploadOf = async ({ blobs }: IntakeDeps, { upload, size, expiresAt }: FileRow) =>
  upload && { received: (await blobs.partSize(upload.part)) ?? 0, total: size, expiresAt: expiresAt ?? '' };

const openFile = async ({ store }: IntakeDeps, id: number) => {
  const file = await orNotFound(files.find(store.read, id), 'file', id);
  const { upload, expiresAt } = file;
  if (upload === null) throw conflict('ALREADY_COMPLETE', `file ${id} is complete`, { id });
  if ((expiresAt ?? '') <= new Date().toISOString()) {
    throw new ApiError('gone', 'UPLOAD_EXPIRED', 'the upload was not completed in time: open another', { id });
  }
  return { file, upload };
};

/** Appends the next bytes. After the last ones the content is hashed, checked and stored. */
export const takeChunk = async (deps: IntakeDeps, id: number, { stream, contentRange }: Chunk, caller: Caller) => {
  const { file, upload } = await openFile(deps, id);
  if (file.issuerID !== caller.userId)
    throw forbidden('NOT_UPLOADER', `upload ${id} was opened by another user, who must complete it`, { id });
  const { part } = upload;
  const total = file.size;
  const received = await (isQuestion(contentRange, total) || stream === undefined
    ? deps.blobs.partSize(part)
    : append(deps, file, part, { stream, contentRange }));
  if (received !== total) return { data: { received: received ?? 0, total, complete: false } };
  await finish(deps, file, caller);
  return { data: { received: total, total, complete: true } };
};

/** `bytes * /total` sends nothing: it asks how far the upload is, and completes one whose last answer was lost. */
const isQuestion = (contentRange: string | undefined, total: number) => {
  const asked = /^\s*bytes\s+\*\/(\d{1,15})\s*$/i.exec(contentRange ?? '')?.[1];
  if (asked !== undefined && Number(asked) !== total) throw otherTotal(total);
  return asked !== undefined;
};

const otherTotal = (total: number) =>
  invalid(
    [
      {
        path: '/Content-Range',
        in: 'header',
        code: 'BAD_CONTENT_RANGE',
        message: `the upload has ${total} bytes in all`,
      },
    ],
    'BAD_CONTENT_RANGE',
  );

const append = async (
  { blobs }: IntakeDeps,
  file: FileRow,
  part: string,
  { stream, contentRange }: { stream: Readable; contentRange: string | undefined },
) => {
  const range = parseContentRange(contentRange);
  if (range.total !== file.size) throw otherTotal(file.size);
  const maxBytes = range.end - range.start;
  const received = await explained(() => blobs.append(part, range.start, stream, { maxBytes }));
  if (received === range.end) return received;
  const message = `the body ended at byte ${received}, before the end of its Content-Range`;
  throw new ApiError('invalid', 'SHORT_CHUNK', message, {
    received,
    issues: [{ path: '', code: 'SHORT_CHUNK', message }],
  });
};

const finish = async (deps: IntakeDeps, file: FileRow, caller: Caller) => {
  const { blobs, files: service, store } = deps;
  const { part, onDuplicate } = file.upload as NonNullable<FileRow['upload']>;
  const staged = await explained(() => blobs.finishPart(part));
  try {
    const facts = await inspect(deps, staged, requestOf(file));
    await service.keep([staged], () =>
      store.change(caller, async (tx) => {
        if ((await files.find(tx, file.id))?.state !== 'uploading') throw notFound('file', file.id);
        const [same] = onDuplicate === 'error' ? await filesWith(tx, staged.sha256) : [];
        if (same) throw conflict('DUPLICATE', `file ${same.id} has the same content`, { id: same.id });
        const columns = await service.contentColumns(tx, staged, facts);
        await files.update(tx, file.id, { ...columns, upload: null, expiresAt: null });
      }),
    );
  } catch (error) {
    await discardTemp(deps, staged);
    // The content itself is refused: more bytes would not help.
    if (error instanceof ApiError && (error.kind === 'invalid' || error.code === 'DUPLICATE'))
      await drop(deps, file, caller);
    throw error;
  }
};

const requestOf = ({ name, category, source, tags, first_seen_at, upload }: FileRow): NewFileRequest => ({
  name,
  category: category as CategoryName,
  source: source as NonNullable<FileUpload['source']>,
  tags,
  first_seen_at,
  ...(upload?.expectSha256 && { expectSha256: upload.expectSha256 }),
});

/** Discards the staged file but keeps its part for another attempt. */
const discardTemp = ({ blobs }: IntakeDeps, { partPath: _, ...temp }: Staged) => blobs.discard(temp);

const drop = ({ store, files: service }: IntakeDeps, file: FileRow, caller: Caller) =>
  store.change(caller, (tx) => service.remove(tx, [file]));
