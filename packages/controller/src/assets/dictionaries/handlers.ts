import type { api, NewDictionary } from '@rushhour/contract';
import { allRecords, assertAllFound, assertFresh, one, pageRequestOf, shownPage } from '../../crud.ts';
import { forbidden, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import { dictionaries, readRows, removeRows, replaceRows } from '../../store/assets/dictionaries.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import { assertUnused, dropLinks, setLinks } from '../../store/engine/links.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import type { DictionaryFiles } from './content.ts';
import { isInline, usesOf } from './content.ts';
import { drawRows, placed, type StoredDictionary } from './draw-rows.ts';
import { openFile } from './import.ts';
import { tablePath } from './mrt-file.ts';
import { changedContent, contentOfBody, contentOfUpload, type StoredContent, sourcePath } from './write-dictionary.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
  files: DictionaryFiles;
}

const createDictionaryContext = (deps: Deps) => {
  const { files, store } = deps;
  const access = { files, read: store.read };
  return { ...deps, access };
};
type DictionaryContext = ReturnType<typeof createDictionaryContext>;

const findIn = (executor: Executor, id: number) => orNotFound(dictionaries.find(executor, id), 'dictionary', id);

/** Writes the rows and the links, and checks that the linked records exist: a file may have been deleted meanwhile. */
const complete = async (
  { files }: DictionaryContext,
  tx: Change,
  id: number,
  { name, ...content }: StoredContent & { name: string },
) => {
  if (content.blocks) await replaceRows(tx, id, content.blocks);
  const uses = usesOf(content);
  const path = content.type === 'file' ? sourcePath : tablePath;
  for (const use of uses) if (use.kind === 'file') await openFile(files, tx, use.id, path);
  await setLinks(tx, { kind: 'dictionary', id, name }, uses);
};

const removeDictionaries =
  ({ store }: DictionaryContext): Handlers<typeof api.dictionaries>['removeMany'] =>
  ({ body: { array } }, caller) =>
    store.change(caller, async (tx) => {
      const found = await dictionaries.findMany(tx, array);
      assertAllFound(
        'dictionary',
        array,
        found.map(({ id }) => id),
      );
      assertOwn(found);
      await assertUnused(tx, 'dictionary', array);
      await removeRows(tx, array);
      await dictionaries.remove(tx, array);
      await dropLinks(tx, 'dictionary', array);
      return { data: array };
    });

const updateDictionary =
  (context: DictionaryContext): Handlers<typeof api.dictionaries>['update'] =>
  async ({ body: { id, updatedAt, ...patch } }, caller) => {
    const { store, access } = context;
    const before = await findIn(store.read, id);
    assertOwn([before]);
    assertFresh('dictionary', before, updatedAt);
    const content = await changedContent(before, patch, access);
    await store.change(caller, async (tx) => {
      const present = await findIn(tx, id);
      // New content was checked together with the stored content.
      assertFresh('dictionary', present, content === undefined ? updatedAt : before.updatedAt);
      const { name, description, tags } = patch;
      await dictionaries.update(tx, id, { name, description, tags, ...(content && columnsOf(content)) });
      await complete(context, tx, id, { ...present, ...content, name: name ?? present.name });
    });
  };

export const dictionaryHandlers = (deps: Deps): Handlers<typeof api.dictionaries> => {
  const context = createDictionaryContext(deps);
  const { store, settings, access } = context;

  return {
    list: ({ query }) => shownPage(dictionaries, store.read, pageRequestOf(query, 'id'), shown),
    all: () => allRecords(dictionaries, { store, settings }, shown),
    get: async ({ params: { id }, query: { rowsFrom = 0, rowsLimit = 10_000, sample } }) => {
      const found = await findIn(store.read, id);
      const rows = await readRows(store.read, id, { from: rowsFrom, limit: rowsLimit });
      return one({ ...shown(found, rows), ...(sample && { sample: await drawRows(access, found, sample) }) });
    },
    create: async ({ body, upload }, caller) => {
      const content = await (upload ? contentOfUpload(upload) : contentOfBody(body as NewDictionary, access));
      const { name, description = '', tags = '' } = (upload?.fields ?? body) as NewDictionary;
      return store.change(caller, async (tx) => {
        const id = await dictionaries.insert(tx, { name, description, tags, source: 'user', ...columnsOf(content) });
        await complete(context, tx, id, { name, ...content });
        return { data: id };
      });
    },
    update: updateDictionary(context),
    removeMany: removeDictionaries(context),
  };
};

const columnsOf = ({ type, selection, columns, config, rowCount }: StoredContent) => ({
  type,
  selection,
  columns,
  config,
  rowCount,
});

const shown = (found: StoredDictionary, rows: readonly (string | string[])[] = []) => ({
  ...found,
  ...placed(found.type, rows),
  ...(isInline(found.type) && rows.length < found.rowCount && { rowsPartial: true }),
});

const assertOwn = (found: readonly StoredDictionary[]) => {
  const ids = found.filter(({ source }) => source === 'builtin').map(({ id }) => id);
  if (ids.length > 0) throw forbidden('BUILT_IN', 'built-in dictionaries stay as they are: copy them instead', { ids });
};
