import { Readable } from 'node:stream';
import type { CveImportDocument, CveImportFields } from '@rushhour/contract';
import { ArchiveError } from '../../../../assets/archives/archive-error.ts';
import type { Caller } from '../../../../caller.ts';
import { ApiError, invalid, unavailable } from '../../../../errors.ts';
import type { Upload } from '../../../../handler.ts';
import { BlobError } from '../../../../store/blobs/blob-error.ts';
import type { Blobs } from '../../../../store/blobs/blobs.ts';
import { knownCves } from '../../../../store/security/cve.ts';
import { type ImportDeps as BatchDeps, createProgress, storeEntries } from './import-batches.ts';
import { spoolEntries, spooledEntries } from './import-entries.ts';
import { importedFiles } from './imported-files.ts';

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
  const stream = Readable.from([bytesOf(content, encoding)]);
  return importStream(deps, { stream, name, maxBytes: maxInlineBytes }, fields, caller);
};

const bytesOf = (content: string, encoding: 'text' | 'base64') => {
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
      const spooled = await spoolEntries(files, { fields, known, onProgress: progress.tell });
      try {
        const settings = { fields, caller, isTold: progress.isTold() };
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
