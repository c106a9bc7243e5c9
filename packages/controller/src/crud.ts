import type { Caller } from './caller.ts';
import { conflict, notFound, orNotFound } from './errors.ts';
import type { Change } from './store/engine/change.ts';
import type { Executor } from './store/engine/database.ts';
import type { PageRequest } from './store/engine/table-statements.ts';
import type { Store } from './store/store.ts';
import type { SettingsStore } from './store/system/settings.ts';

interface Readable<Item> {
  find(executor: Executor, id: number): Promise<Item | undefined>;
  page(executor: Executor, request: PageRequest<object>): Promise<{ rows: Item[]; total: number }>;
}

interface Writable<Item> extends Readable<Item> {
  insert(tx: Change, values: object): Promise<number>;
  update(tx: Change, id: number, values: object): Promise<boolean>;
  remove(tx: Change, ids: readonly number[]): Promise<number[]>;
}

interface ListQuery {
  count?: number;
  page?: number;
  key?: string;
  order?: 'asc' | 'desc';
  search?: string;
}

export const cursorOf = (count: number, offset: number, totalRows: number) => ({
  count,
  currentPage: Math.floor(offset / count) + 1,
  totalPages: Math.ceil(totalRows / count),
  totalRows,
});

/** One record in the list envelope. */
export const one = <T>(data: T) => ({ cursor: { count: 1, currentPage: 1, totalPages: 1, totalRows: 1 }, data });

/** The page a list query asks for. Members beyond paging, sorting and search are the list's filters. */
export const pageRequestOf = <Query extends ListQuery>(query: Query, defaultKey: string) => {
  const { count = 20, page = 1, key = defaultKey, order = 'desc', search, ...filters } = query;
  return { key, order, limit: count, offset: (page - 1) * count, search, filters };
};

/** A page of a table, each record as `show` returns it. */
export const shownPage = async <Item, Shown>(
  table: Pick<Readable<Item>, 'page'>,
  executor: Executor,
  request: ReturnType<typeof pageRequestOf>,
  show: (item: Item) => Shown,
) => {
  const { rows, total } = await table.page(executor, request);
  return { cursor: cursorOf(request.limit, request.offset, total), data: rows.map((row) => show(row)) };
};

/** All records on one page, up to the limit of the settings. */
export const allRecords = async <Item, Shown>(
  table: Pick<Readable<Item>, 'page'>,
  { store, settings }: { store: Pick<Store, 'read'>; settings: Pick<SettingsStore, 'current'> },
  show: (item: Item) => Shown,
) => {
  const limit = settings.current().limits.allListMax;
  const { rows, total } = await table.page(store.read, { key: 'id', order: 'asc', limit, offset: 0 });
  const cursor = { count: rows.length, currentPage: 1, totalPages: 1, totalRows: total };
  return { cursor, data: rows.map((row) => show(row)) };
};

/** Refuses an update that was made from an older version of the record. */
export const assertFresh = (what: string, record: { updatedAt: string }, given: string | undefined) => {
  if (given !== undefined && given !== record.updatedAt) {
    throw conflict('STALE_OBJECT', `this ${what} was changed since you read it`, { updatedAt: record.updatedAt });
  }
};

/** Refuses a bulk request that names missing records. */
export const assertAllFound = (what: string, asked: readonly number[], found: readonly number[]) => {
  const present = new Set(found);
  const missing = asked.filter((id) => !present.has(id));
  const [first] = missing;
  if (first === undefined) return;
  const error = notFound(what, first);
  Object.assign(error.data, { missing });
  throw error;
};

/** The five standard routes. A collection spreads them and overrides what differs. */
export const crudHandlers = <Item extends { updatedAt: string }>(
  what: string,
  table: Writable<Item>,
  store: Store,
  defaultKey = 'id',
) => ({
  list: async ({ query }: { query: ListQuery }) => {
    const request = pageRequestOf(query, defaultKey);
    const { rows, total } = await table.page(store.read, request);
    return { cursor: cursorOf(request.limit, request.offset, total), data: rows };
  },
  create: ({ body }: { body: object }, caller: Caller) =>
    store.change(caller, async (tx) => ({ data: await table.insert(tx, body) })),
  update: ({ body }: { body: { id: number; updatedAt?: string } }, caller: Caller) =>
    store.change(caller, async (tx) => {
      const { id, updatedAt, ...values } = body;
      const record = await orNotFound(table.find(tx, id), what, id);
      assertFresh(what, record, updatedAt);
      await table.update(tx, id, values);
    }),
  removeMany: ({ body }: { body: { array: number[] } }, caller: Caller) =>
    store.change(caller, async (tx) => {
      assertAllFound(what, body.array, await table.remove(tx, body.array));
      return { data: body.array };
    }),
  get: async ({ params }: { params: { id: number } }) => {
    const item = await orNotFound(table.find(store.read, params.id), what, params.id);
    return one(item);
  },
});
