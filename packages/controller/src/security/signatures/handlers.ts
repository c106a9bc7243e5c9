import type { api, CveFilter, CveSignature, CveTestBody, ReplyOf } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import type { Caller } from '../../caller.ts';
import { assertAllFound, cursorOf, one, pageRequestOf } from '../../crud.ts';
import { forbidden, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import { assertUnused, dropLinks, referencesTo } from '../../store/engine/links.ts';
import { cveSignatures, findSignature, rawOf, removeSignatures, withDetails } from '../../store/security/cve.ts';
import { searchSignatures } from '../../store/security/cve-search.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { exportSignatures } from './export/export.ts';
import { type CveFiles, importDocument, importUpload } from './import/store/import.ts';
import { renderedSignature } from './render-signature.ts';
import { cveResults, cveStats } from './results.ts';
import { createSignature, updateSignature } from './write.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
  bus: Bus;
  files: CveFiles;
  /** Runs a task of one signature between two agents. */
  testSignature(
    signature: CveSignature,
    body: CveTestBody,
    caller: Caller,
  ): Promise<ReplyOf<typeof api.cve.routes.test>>;
}

const sortColumn = (key: string) => (key === 'severity' ? 'severityRank' : key);

export const cveHandlers = ({ store, settings, bus, files, testSignature }: Deps): Handlers<typeof api.cve> => ({
  list: async ({ query }) => {
    const { key, order, limit, offset, search, filters } = pageRequestOf(query, 'id');
    const filter = { ...filters, ...(search && { search }) } as CveFilter;
    const { rows, total } = await searchSignatures(store.read, { filter, key: sortColumn(key), order, limit, offset });
    return { cursor: cursorOf(limit, offset, total), data: await withDetails(store.read, rows) };
  },
  all: async () => {
    const limit = settings.current().limits.allListMax;
    const { rows, total } = await cveSignatures.page(store.read, { key: 'id', order: 'asc', limit, offset: 0 });
    const cursor = { count: rows.length, currentPage: 1, totalPages: 1, totalRows: total };
    return { cursor, data: await withDetails(store.read, rows) };
  },
  get: async ({ params: { id }, query: { include = '' } }) => {
    const signature = await orNotFound(findSignature(store.read, id), 'signature', id);
    const parts = include.split(',');
    const usedBy = parts.includes('references') ? await referencesTo(store.read, 'signature', [id]) : undefined;
    const raw = parts.includes('raw') ? await rawOf(store.read, id) : undefined;
    return one({ ...signature, ...(raw !== undefined && { raw }), ...(usedBy && { usedBy }) });
  },
  create: ({ body }, caller) => createSignature(store, body, caller),
  update: ({ body }, caller) => updateSignature(store, body, caller),
  removeMany: ({ body: { array } }, caller) =>
    store.change(caller, async (tx) => {
      const builtin = (await cveSignatures.findMany(tx, array)).find(({ source }) => source === 'builtin');
      if (builtin) throw forbidden('BUILT_IN', `signature "${builtin.name}" is built in`, { id: builtin.id });
      await assertUnused(tx, 'signature', array);
      assertAllFound('signature', array, await removeSignatures(tx, array));
      await dropLinks(tx, 'signature', array);
      return { data: array };
    }),
  import: ({ body, upload }, caller) => {
    const deps = { store, bus, files, maxBytes: settings.current().limits.uploadBytes };
    return upload ? importUpload(deps, upload, caller) : importDocument(deps, body as never, caller);
  },
  export: ({ body }) => exportSignatures(store, body),
  stats: ({ query }) => cveStats(store, query),
  test: async ({ params: { id }, body }, caller) => {
    const signature = await orNotFound(findSignature(store.read, id), 'signature', id);
    if (body.mode === 'render') return { data: await renderedSignature(store.read, signature) };
    return testSignature(signature, body, caller);
  },
  results: ({ params, query }) => cveResults(store.read, params.id, query),
});
