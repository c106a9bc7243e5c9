import type { Readable } from 'node:stream';
import { assertAllFound } from '../../crud.ts';
import { type CaptureFacts, dropCapture, findCapture, keepCapture } from '../../store/assets/captures.ts';
import {
  type FileRow,
  files,
  filesInState,
  filesMadeFrom,
  isContentUsed,
  isPartUsed,
} from '../../store/assets/files.ts';
import type { Blobs, Digests, Staged } from '../../store/blobs/blobs.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import { assertUnused, dropLinks, referencesTo } from '../../store/engine/links.ts';
import type { Store } from '../../store/store.ts';
import { isContentKept } from '../../store/tasks/task-imports.ts';
import { createCaptures } from './captures/captures.ts';
import { type Content, storedContent } from './content.ts';
import { assertNotMalware } from './refusals.ts';
import type { CategoryName } from './upload/category.ts';
import type { Sniffed } from './upload/magic-bytes.ts';

/** Unused files derived from these contents. */
const findUnusedDerived = async (tx: Change, sha256s: readonly string[], known: ReadonlySet<number>) => {
  const made = (await filesMadeFrom(tx, sha256s)).map(({ id }) => id).filter((id) => !known.has(id));
  const used = new Set((await referencesTo(tx, 'file', made, made.length * 100 + 1)).map(({ usesID }) => usesID));
  return files.findMany(
    tx,
    made.filter((id) => !used.has(id)),
  );
};

/** Deletes files that no record uses, with `force` also what was made from them. Answers the ids that are gone. */
export const removeFiles = async (tx: Change, service: FileService, ids: readonly number[], force: boolean) => {
  const found = await files.findMany(tx, ids);
  assertAllFound(
    'file',
    ids,
    found.map(({ id }) => id),
  );
  found.forEach(assertNotMalware);
  await assertUnused(tx, 'file', ids);
  const known = new Set(ids);
  for (let fresh = found; force && fresh.length > 0; ) {
    fresh = await findUnusedDerived(
      tx,
      fresh.map(({ sha256 }) => sha256),
      known,
    );
    for (const file of fresh) known.add(file.id);
    found.push(...fresh);
  }
  await service.remove(tx, found);
  return [...known];
};

interface Deps {
  store: Store;
  blobs: Blobs;
  onError(error: unknown): void;
}

/** Facts of new content besides its hashes. */
export interface ContentFacts extends Sniffed {
  readonly name: string;
  readonly category: CategoryName;
  readonly source: 'upload' | 'import' | 'generated' | 'trimmed' | 'task' | 'builtin';
  readonly tags?: string | undefined;
  readonly first_seen_at?: string | undefined;
  /** Where the controller made the content from other bytes: their hash. */
  readonly original_sha256?: string | undefined;
  /** The result of the analysis of a capture, if it was already made. */
  readonly capture?: CaptureFacts | undefined;
}

/** A file whose content is stored. */
export interface StoredFile extends FileRow {
  readonly content: Content;
  open(): Promise<Readable>;
}

const dayMs = 86_400_000;
const origin = { userId: null, address: '', requestId: 'housekeeping', operation: 'files.expire' };
export const isCapture = (category: string) => category === 'pcap' || category === 'capture';

/** Commits staged contents, each once, and then runs `record`; if that fails, new contents are removed again. */
const keepContents = async <T>(blobs: Blobs, staged: readonly Staged[], record: () => Promise<T>): Promise<T> => {
  // In the order of their hashes, so that two requests cannot deadlock on each other's contents.
  const distinct = [...new Map(staged.map((content) => [content.sha256, content])).values()].sort((a, b) =>
    a.sha256 < b.sha256 ? -1 : 1,
  );
  let result: T | undefined;
  const commitFrom = async (at: number): Promise<void> => {
    const content = distinct[at];
    if (content === undefined) result = await record();
    else await blobs.commit(content, () => commitFrom(at + 1));
  };
  await commitFrom(0);
  return result as T;
};

/** Removes rows, and after the change the contents that no row has any more. */
type RemoveFiles = (tx: Change, rows: readonly FileRow[]) => Promise<void>;

const expireUploads = async (store: Store, remove: RemoveFiles) => {
  const now = new Date().toISOString();
  const late = (await filesInState(store.read, 'uploading')).filter(({ expiresAt }) => (expiresAt ?? '') <= now);
  if (late.length === 0) return;
  const ids = late.map(({ id }) => id);
  await store.change(origin, async (tx) => {
    const rows = await files.findMany(tx, ids);
    await remove(
      tx,
      rows.filter(({ state }) => state === 'uploading'),
    );
  });
};

const createFileContext = (deps: Deps) => {
  const { store, blobs, onError } = deps;
  const captures = createCaptures({ store, blobs, onError });
  return { ...deps, captures };
};
type FileContext = ReturnType<typeof createFileContext>;

const isUsed = ({ store }: FileContext, sha256: string) => isContentKept(store.read, sha256);

/** Columns of a content that is kept; analyses what is not known yet once the change is on disk. */
const contentColumns = async (
  { captures }: FileContext,
  tx: Change,
  content: Digests & { size: number },
  facts: ContentFacts,
) => {
  const { sha256, size, md5, sha1, sha3_384 } = content;
  const { category, kind, mime, capture, original_sha256 = sha256 } = facts;
  if (capture) await keepCapture(tx, sha256, capture);
  const isKnown = !isCapture(category) || (await findCapture(tx, sha256)) !== undefined;
  if (!isKnown) tx.afterCommit(() => void captures.want({ sha256, size }));
  const state = isKnown ? ('ready' as const) : ('analysing' as const);
  return { category, kind, mime, size, md5, sha1, sha256, sha3_384, original_sha256, state, problem: '' };
};

/** After a start: removes leftovers of a crash, moves orphans to the trash and resumes interrupted analyses. */
const recover = (context: FileContext) => async () => {
  const { store, captures, blobs } = context;
  for (const { id } of await filesInState(store.read, 'analysing')) {
    const row = await files.find(store.read, id);
    if (row) void captures.want(row);
  }
  return blobs.sweep(
    (sha256) => isUsed(context, sha256),
    (part) => isPartUsed(store.read, part),
  );
};

/** Undefined when there is no such file, its content is not complete, or it is malware. */
const findFile =
  ({ blobs }: FileContext) =>
  async (executor: Executor, id: number): Promise<StoredFile | undefined> => {
    const row = await files.find(executor, id);
    if (row === undefined || row.state === 'uploading' || row.category === 'malware') return undefined;
    return { ...row, content: storedContent(blobs, row), open: () => blobs.read(row.sha256) };
  };

/** Adds the row of a content; call it in the change that `keep` runs. */
const insertFile =
  (context: FileContext) =>
  async (tx: Change, content: Digests & { size: number }, facts: ContentFacts): Promise<number> => {
    const { name, source, tags = '', first_seen_at = tx.now } = facts;
    const columns = await contentColumns(context, tx, content, facts);
    return files.insert(tx, { name, source, tags, first_seen_at, upload: null, expiresAt: null, ...columns });
  };

/** Rows and blobs of stored files, always consistent; used by the files collection and others that store content. */
export const createFileService = (deps: Deps) => {
  const context = createFileContext(deps);
  const { blobs, onError, captures, store } = context;

  const remove: RemoveFiles = async (tx, rows) => {
    const ids = rows.map(({ id }) => id);
    await files.remove(tx, ids);
    await dropLinks(tx, 'file', ids);
    for (const sha256 of new Set(rows.map((row) => row.sha256))) {
      if (sha256 === '' || (await isContentUsed(tx, sha256))) continue;
      await dropCapture(tx, sha256);
      // A crash in between leaves content without a row, which the next start sweeps.
      tx.afterCommit(() => void blobs.remove(sha256, (hash) => isUsed(context, hash)).catch(onError));
    }
    for (const { upload } of rows) {
      if (upload) tx.afterCommit(() => void blobs.removePart(upload.part).catch(onError));
    }
  };

  return {
    blobs,
    captures,
    contentColumns: (tx: Change, content: Digests & { size: number }, facts: ContentFacts) =>
      contentColumns(context, tx, content, facts),
    isUsed: (sha256: string) => isUsed(context, sha256),
    onError,
    find: findFile(context),
    insert: insertFile(context),
    /** `record` is a change; if it throws, neither rows nor contents are stored. */
    keep: <T>(staged: readonly Staged[], record: () => Promise<T>) => keepContents(blobs, staged, record),
    remove,
    /** Ends uploads that were not completed in time. */
    expireUploads: () => expireUploads(store, remove),
    recover: recover(context),
    emptyTrash: (days: number) => blobs.emptyTrash(days * dayMs),
    close: () => captures.close(),
  };
};

export type FileService = ReturnType<typeof createFileService>;
