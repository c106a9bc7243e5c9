import { Readable } from 'node:stream';
import type { CveImportDocument, CveImportFields } from '@rushhour/contract';
import { ArchiveError } from '../../../../assets/archives/archive-error.ts';
import { peek, sniffFormat } from '../../../../assets/archives/archive-source.ts';
import { openArchive } from '../../../../assets/archives/open-archive.ts';
import type { Caller } from '../../../../caller.ts';
import { ApiError, invalid, unavailable } from '../../../../errors.ts';
import type { Upload } from '../../../../handler.ts';
import { BlobError } from '../../../../store/blobs/blob-error.ts';
import type { Blobs } from '../../../../store/blobs/blobs.ts';
import { knownCves } from '../../../../store/security/cve.ts';
import type { TemplateFile } from '../template.ts';
import { type ImportDeps as BatchDeps, createProgress, storeEntries } from './import-batches.ts';
import { spoolEntries, spooledEntries } from './import-entries.ts';

/** A template of more is refused by itself; a list or capture may have so much. */
const maxFileBytes = 64 * 1_048_576;
const limits = { maxMembers: 50_000, maxDepth: 2, maxRatio: 200, maxBytes: 2 * 1024 ** 3 };

/** The files of an upload: those of an archive in its order, or the one that it is. */
export async function* importedFiles(
  source: Readable,
  { name, size, signal }: { name: string; size: number; signal?: AbortSignal },
): AsyncGenerator<TemplateFile, void> {
  const { head, stream } = await peek(source);
  if (sniffFormat(head) === undefined) {
    yield { path: name, bytes: await bytesOf(name, stream) };
    return;
  }
  const archive = await openArchive({ stream, size, name }, { limits });
  try {
    for await (const member of archive.members()) {
      signal?.throwIfAborted();
      yield { path: member.name, bytes: await bytesOf(member.name, member.open()) };
    }
  } finally {
    await archive.close();
  }
}

const bytesOf = async (name: string, stream: Readable) => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxFileBytes) throw new ArchiveError('TOO_LARGE', name, `is longer than ${maxFileBytes} bytes`);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
};

/** What of the stored files an import needs. */
export interface CveFiles {
  readonly blobs: Pick<Blobs, 'stage' | 'readStaged' | 'discard'>;
}

interface ImportDeps extends BatchDeps {
  readonly files: CveFiles;
  readonly maxBytes: number;
}

const maxInlineBytes = 10 * 1_048_576;

/** An uploaded template, list or archive. It is kept on disk while it is read, one file of it in memory. */
export const importUpload = (deps: ImportDeps, { stream, filename, fields }: Upload<CveImportFields>, caller: Caller) =>
  importStream(deps, { stream, name: filename, maxBytes: deps.maxBytes }, fields, caller);

/** The same in a JSON body. */
export const importDocument = (deps: ImportDeps, document: CveImportDocument, caller: Caller) => {
  const { content, encoding = 'text', name = 'content', ...fields } = document;
  const stream = Readable.from([decodeContent(content, encoding)]);
  return importStream(deps, { stream, name, maxBytes: maxInlineBytes }, fields, caller);
};

const decodeContent = (content: string, encoding: 'text' | 'base64') => {
  if (encoding === 'text') return Buffer.from(content);
  if (content.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(content)) return Buffer.from(content, 'base64');
  throw invalid([{ path: '/content', code: 'BAD_BASE64', message: 'is not base64' }]);
};

interface Source {
  readonly stream: Readable;
  readonly name: string;
  readonly maxBytes: number;
}

const importStream = (deps: ImportDeps, { stream, name, maxBytes }: Source, fields: CveImportFields, caller: Caller) =>
  explained(async () => {
    const { blobs } = deps.files;
    const staged = await blobs.stage(stream, { maxBytes, signal: caller.signal });
    const progress = createProgress(deps, caller);
    try {
      const files = importedFiles(await blobs.readStaged(staged), { name, size: staged.size, signal: caller.signal });
      const known = await knownCves(deps.store.read);
      const spooled = await spoolEntries(files, { fields, known, onProgress: progress.report });
      try {
        const settings = { fields, caller, hasReported: progress.hasReported() };
        return await storeEntries(deps, spooledEntries(spooled), settings);
      } finally {
        await spooled.close();
      }
    } finally {
      await blobs.discard(staged);
    }
  });

/** What is wrong with an upload becomes an answer. */
const explained = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ArchiveError)
      throw invalid([{ path: '/file', code: error.code, message: error.message }], error.code);
    if (error instanceof BlobError && error.code === 'TOO_LARGE') {
      throw new ApiError('tooLarge', 'FILE_TOO_LARGE', error.message, { limitBytes: error.data['limit'] });
    }
    if (error instanceof BlobError && error.code === 'NO_SPACE') throw unavailable('NO_SPACE', error.message);
    throw error;
  }
};
