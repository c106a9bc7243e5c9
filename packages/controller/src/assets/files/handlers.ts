import { Readable } from 'node:stream';
import type { api, FileUpload, NewFile } from '@rushhour/contract';
import type { Caller } from '../../caller.ts';
import { allRecords, assertAllFound, assertFresh, one, pageRequestOf, shownPage } from '../../crud.ts';
import { ApiError, invalid, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import { assertPermission } from '../../people/assert-permission.ts';
import { type FileRow, files, filesMadeFrom } from '../../store/assets/files.ts';
import type { Executor } from '../../store/engine/database.ts';
import { referencesTo } from '../../store/engine/links.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import type { AgentFiles } from './agent-files.ts';
import { showCapture, showsPayload } from './captures/captures.ts';
import { downloadFile } from './download.ts';
import { categoryTotals, checkContents, filtersOf, instant, shown, tagCounts } from './file-list.ts';
import type { FileService } from './file-service.ts';
import { removeFiles } from './file-service.ts';
import { previewFile } from './preview/preview.ts';
import { assertNotMalware, assertReadable, explained } from './refusals.ts';
import { type CategoryName, defaultSizeLimits, maxBytesOf, requireCategoryChange } from './upload/category.ts';
import type { Kind } from './upload/magic-bytes.ts';
import { assertAdmitted, type NewFileRequest, nameOfUpload, storeFile } from './upload/new-file.ts';
import { openUpload, takeChunk, uploadOf } from './upload/resumable.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
  files: FileService;
  agentFiles: AgentFiles;
  /** Called once all content of a resumable upload is stored. */
  onComplete(fileId: number): Promise<void>;
}

/** Content in JSON. */
const maxInlineBytes = 10 * 1_048_576;

const mustFind = (executor: Executor, id: number) => orNotFound(files.find(executor, id), 'file', id);

const createFileContext = (services: Deps) => {
  const { files: service, store } = services;
  const { blobs, captures } = service;
  const deps = { store, files: service, blobs };
  return { ...services, deps, blobs, captures };
};
type FileContext = ReturnType<typeof createFileContext>;

const limits = ({ settings }: FileContext) => ({
  ...defaultSizeLimits,
  maxFileBytes: settings.current().limits.uploadBytes,
});

const findReadable = async ({ store }: FileContext, id: number) => {
  const file = await mustFind(store.read, id);
  assertReadable(file);
  return file;
};

const storeContent = (context: FileContext, source: Readable, request: NewFileRequest, caller: Caller) => {
  const { deps } = context;
  const maxBytes = maxBytesOf(request.category as CategoryName, limits(context));
  return storeFile(deps, source, { request, maxBytes, caller });
};

const storeBody = (context: FileContext, body: NewFile, caller: Caller) => {
  const { deps } = context;
  const { content, size, sha256, ...request } = body;
  const expectSha256 = request.expectSha256 || sha256 || undefined;
  const expected = { ...request, ...(expectSha256 && { expectSha256 }) };
  if (content !== undefined) return storeContent(context, Readable.from([bytesOf(content)]), expected, caller);
  if (size === undefined) {
    throw invalid([{ path: '/content', code: 'REQUIRED', message: 'is required, or size to open an upload' }]);
  }
  const limit = maxBytesOf(request.category as CategoryName, limits(context));
  if (size > limit) throw tooLarge(limit);
  return openUpload(deps, { ...expected, size }, caller);
};

const withIncluded = async ({ store, deps }: FileContext, file: FileRow, include: readonly string[]) => ({
  ...shown(file),
  ...(include.includes('references') && {
    references: (await referencesTo(store.read, 'file', [file.id])).map(({ kind, id, name }) => ({ kind, id, name })),
  }),
  ...(include.includes('derived') && {
    derived: (await filesMadeFrom(store.read, [file.sha256])).map(({ id }) => id).filter((id) => id !== file.id),
  }),
  ...(include.includes('upload') && { upload: await uploadOf(deps, file) }),
});

const updateFile =
  ({ store, files: service }: FileContext): Handlers<typeof api.files>['update'] =>
  ({ body: { id, updatedAt, ...patch } }, caller) =>
    store.change(caller, async (tx) => {
      const file = await mustFind(tx, id);
      assertNotMalware(file);
      assertFresh('file', file, updatedAt);
      const { name, tags, source, first_seen_at } = patch;
      const category = (patch.category ?? file.category) as CategoryName;
      const seen = first_seen_at === null ? file.createdAt : instant(first_seen_at);
      const columns = { name, tags, source, first_seen_at: seen };
      if (category === file.category) return void (await files.update(tx, id, columns));
      assertReadable(file);
      const sniffed = { kind: file.kind as Kind, mime: file.mime };
      requireCategoryChange(file.category as CategoryName, category, sniffed);
      const { state } = await service.contentColumns(tx, file, {
        ...sniffed,
        name: file.name,
        category,
        source: 'upload',
      });
      await files.update(tx, id, { ...columns, category, state });
    });

const syncFiles =
  ({ store, agentFiles }: FileContext): Handlers<typeof api.files>['sync'] =>
  async ({ body: { array, agents, verify = false } }, caller) => {
    const found = await files.findMany(store.read, array);
    assertAllFound(
      'file',
      array,
      found.map(({ id }) => id),
    );
    found.forEach(assertNotMalware);
    assertAllReady(array, found);
    const known = await agentFiles.known(agents);
    if (agents !== 'all') assertAllFound('agent', agents, known);
    const job = await agentFiles.push({ files: found, agents: known, verify });
    return store.change(caller, async (tx) => {
      for (const { id } of found) tx.touch('files', id);
      return { data: job };
    });
  };

const createFile =
  (context: FileContext): Handlers<typeof api.files>['create'] =>
  async ({ body, upload }, caller) => {
    const given = (upload?.fields ?? body) as FileUpload | NewFile;
    assertAdmitted(given);
    const first_seen_at = instant(given.first_seen_at);
    const dated = first_seen_at ? { first_seen_at } : {};
    if (!upload) return storeBody(context, { ...(body as NewFile), ...dated }, caller);
    const { name = nameOfUpload(upload.filename) } = upload.fields;
    return storeContent(context, upload.stream, { ...upload.fields, name, ...dated }, caller);
  };

const allFiles =
  ({ settings, store }: FileContext): Handlers<typeof api.files>['all'] =>
  () =>
    allRecords(files, { store, settings }, shown);

const listFiles =
  ({ store }: FileContext): Handlers<typeof api.files>['list'] =>
  ({ query }) => {
    const { filters, ...request } = pageRequestOf(query, 'id');
    return shownPage(files, store.read, { ...request, filters: filtersOf(filters) }, shown);
  };

const takeContent =
  ({ deps, onComplete }: FileContext): Handlers<typeof api.files>['content'] =>
  async ({ params, chunk }, caller) => {
    const taken = await takeChunk(deps, params.id, chunk, caller);
    if (taken.data.complete) await onComplete(params.id);
    return taken;
  };

const syncStateOf =
  ({ agentFiles, store }: FileContext): Handlers<typeof api.files>['syncState'] =>
  async ({ params, query }) => {
    const states = await agentFiles.states(await mustFind(store.read, params.id), query.agentID);
    const cursor = { count: states.length, currentPage: 1, totalPages: 1, totalRows: states.length };
    return { cursor, data: states };
  };

export const fileHandlers = (services: Deps): Handlers<typeof api.files> => {
  const context = createFileContext(services);
  const { store, files: service, blobs, captures } = context;

  return {
    list: listFiles(context),
    all: allFiles(context),
    get: async ({ params, query }) =>
      one(await withIncluded(context, await mustFind(store.read, params.id), query.include?.split(',') ?? [])),
    create: createFile(context),
    content: takeContent(context),
    update: updateFile(context),
    removeMany: ({ body: { array }, query: { force = false } }, caller) =>
      store.change(caller, async (tx) => ({ data: await removeFiles(tx, service, array, force) })),
    download: async ({ params, query: { inline = false } }, caller) =>
      explained(async () => downloadFile(blobs, await findReadable(context, params.id), { inline, caller })),
    categories: () => categoryTotals(store.read, blobs, limits(context)),
    tags: async ({ query }) => ({ data: await tagCounts(store.read, query) }),
    check: async ({ body: { array } }) => ({ data: await checkContents(store.read, array) }),
    sync: syncFiles(context),
    syncState: syncStateOf(context),
    pcap: async ({ params, query }, viewer) => {
      if (showsPayload(query)) await assertPermission(store, 'files.download', viewer);
      const file = await findReadable(context, params.id);
      assertCapture(file);
      return { data: await explained(() => showCapture(file, query, { captures, read: store.read, viewer })) };
    },
    preview: async ({ params, query: { start = 0, limit = 50, filter } }, caller) => {
      await assertPermission(store, 'files.download', caller);
      const file = await findReadable(context, params.id);
      return { data: await explained(() => previewFile(blobs, file, { start, limit, filter })) };
    },
  };
};

const tooLarge = (limitBytes: number) =>
  new ApiError('tooLarge', 'FILE_TOO_LARGE', `the file is larger than ${limitBytes} bytes`, { limitBytes });

const bytesOf = (content: string) => {
  if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(content)) {
    throw invalid([{ path: '/content', code: 'BAD_BASE64', message: 'is not base64' }]);
  }
  const bytes = Buffer.from(content, 'base64');
  if (bytes.length > maxInlineBytes) throw tooLarge(maxInlineBytes);
  return bytes;
};

const assertAllReady = (ids: readonly number[], found: readonly FileRow[]) => {
  const late = found.filter(({ state, category }) => state !== 'ready' || category === 'malware');
  if (late.length === 0) return;
  const issues = late.map(({ id }) => ({
    path: `/array/${ids.indexOf(id)}`,
    code: 'NOT_READY',
    message: `file ${id} is not ready`,
  }));
  throw invalid(issues, 'NOT_READY');
};

const assertCapture = ({ kind, state, problem }: FileRow) => {
  const refuse = (code: string, message: string) => invalid([{ path: '', code, message }], code);
  if (kind !== 'pcap') throw refuse('NOT_A_PCAP', 'the file is not a capture');
  if (state !== 'failed') return;
  const [code = 'CORRUPT_CAPTURE'] = problem.split(':');
  throw refuse(code, problem.slice(code.length + 1).trim());
};
