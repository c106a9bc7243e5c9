import type { RawBuilder } from 'kysely';
import { type TableName, tables } from '../tables/index.ts';
import type { Change } from './change.ts';
import type { Columns, RecordOf } from './column.ts';
import type { Engine, Executor } from './database.ts';
import { trigramsOf } from './expressions.ts';
import { copyOf, decoderOf, encodeRow, type LightUser, stampsOf } from './row.ts';
import type { Statement } from './statement.ts';
import {
  conditionsKey,
  countStatement,
  findManyStatement,
  findStatement,
  insertStatement,
  isRare,
  type KeptCounts,
  keptCountStatement,
  type PageRequest,
  pageStatement,
  parametersOf,
  rareStatement,
  removeStatement,
  type TableShape,
  updateStatement,
} from './table-statements.ts';

interface Options<Computed, Filters> {
  /** Text columns that `search` looks into. */
  search?: readonly string[];
  /** Members computed by the database, by name; the table is `t`. */
  computed?: { [K in keyof Computed]: (engine: Engine) => RawBuilder<Computed[K]> };
  /** Named conditions of the list; each gets its value as a placeholder. */
  filters?: { [K in keyof Filters]: (value: Filters[K], engine: Engine) => RawBuilder<unknown> };
  /** Where it is kept how many records there are. */
  counts?: KeptCounts & { readonly table: TableName; readonly filters: readonly (keyof Filters & string)[] };
  /** The migrations made an index for `search`. */
  hasTrigrams?: true;
  /** Columns that a light page reads as cleared. */
  heavy?: readonly string[];
  /** Records marked deleted are found too; callers check `deletedAt`. */
  showsDeleted?: true;
}

type Stored<Name extends TableName> = RecordOf<(typeof tables)[Name]>;
type Found<Name extends TableName, Computed> = Stored<Name> & Computed & { issuer: LightUser | null };
type Changed<Name extends TableName> = { [K in keyof Stored<Name>]?: Stored<Name>[K] | null | undefined };

/** The changes of a table; each touches its records for the audit. */
const createWriters = <Name extends TableName>(
  name: Name,
  shape: ReturnType<typeof shapeOf>,
  known: ReturnType<typeof memory>,
) => {
  const { idName, columns } = shape;
  const removal = removeStatement(shape);
  return {
    insert: async (tx: Change, values: Partial<Stored<Name>>): Promise<number> => {
      const record: Record<string, unknown> = { ...stampsOf(columns, tx), ...values };
      const names = Object.keys(columns).filter((column) => column in record);
      const insertion = known(`insert|${names.join()}`, () => insertStatement(shape, names));
      const row = await insertion.first(tx, encodeRow(columns, record));
      const id = Number((row as Record<string, unknown>)[idName]);
      tx.touch(name, id);
      return id;
    },

    /** False when there is no such record. `null` stores the column's cleared value. */
    update: async (tx: Change, id: number, values: Changed<Name>): Promise<boolean> => {
      const record: Record<string, unknown> = { ...('updatedAt' in columns && { updatedAt: tx.now }), ...values };
      const names = Object.keys(columns).filter((column) => record[column] !== undefined && column !== idName);
      const change = known(`update|${names.join()}`, () => updateStatement(shape, names));
      const row = await change.first(tx, { ...encodeRow(columns, record), [idName]: id });
      if (row !== undefined) tx.touch(name, id);
      return row !== undefined;
    },

    /** Removes records, or marks them deleted in tables with `deletedAt`. Returns the ids that existed. */
    remove: async (tx: Change, ids: readonly number[]): Promise<number[]> => {
      const rows = await removal.all(tx, { ids: JSON.stringify(ids), now: tx.now });
      const removed = rows.map((row) => Number(row[idName]));
      for (const id of removed) tx.touch(name, id);
      return removed;
    },
  };
};

/** The reads of a table that answer lists. */
const createLists = <Item, Filters>(
  shape: TableShape,
  known: ReturnType<typeof memory>,
  decode: (row: Record<string, unknown>) => Item,
) => {
  const isRareSearch = searchGauge(shape);

  /** The records of a page. */
  const rowsOf = async (executor: Executor, wanted: PageRequest<Filters>): Promise<Item[]> => {
    const request = await isRareSearch(executor, wanted);
    const key = `${request.key}|${request.order}|${request.isLight === true}|${conditionsKey(request)}`;
    const rows = await known(key, () => pageStatement(shape, request)).all(executor, parametersOf(request));
    return (rows as Record<string, unknown>[]).map(decode);
  };
  /** How many records all pages have together. */
  const count = async (executor: Executor, wanted: PageRequest<Filters>): Promise<number> => {
    const request = await isRareSearch(executor, wanted);
    const counted = known(
      `count|${conditionsKey(request)}`,
      () => keptCountStatement(shape, request) ?? countStatement(shape, request),
    );
    return Number(((await counted.first(executor, parametersOf(request))) as { total: number }).total);
  };

  return {
    rows: rowsOf,
    count,
    page: async (executor: Executor, request: PageRequest<Filters>): Promise<{ rows: Item[]; total: number }> => {
      const [rows, total] = await Promise.all([rowsOf(executor, request), count(executor, request)]);
      return { rows, total };
    },
  };
};

/** The repository of one table; all collections use it. Statements are compiled once per shape. */
export const createTable = <Name extends TableName, Computed = unknown, Filters = unknown>(
  name: Name,
  options: Options<Computed, Filters> = {},
) => {
  type Item = Found<Name, Computed>;
  const columns = tables[name] as Columns;
  const shape = shapeOf(name, columns, options as Partial<TableShape & ShownDeleted>);
  const decode = decoderOf(columns) as (row: Record<string, unknown>) => Item;
  const decodeFound = (row: Record<string, unknown> | undefined) => row && decode(row);
  const remembered = recordsBySnapshot<Item>();
  const known = memory();
  const byId = findStatement(shape);
  const byIds = findManyStatement(shape);

  const lists = createLists<Item, Filters>(shape, known, decode);

  return {
    find: (executor: Executor, id: number): Promise<Item | undefined> => {
      const found = executor.snapshot && remembered(executor.snapshot);
      const known = found?.get(id);
      if (known !== undefined) return known.then(copyFound);
      const reading = byId.first(executor, { id }).then(decodeFound);
      found?.set(id, reading);
      return reading.then(copyFound);
    },

    findMany: async (executor: Executor, ids: readonly number[]): Promise<Item[]> =>
      (await byIds.all(executor, { ids: JSON.stringify(ids) })).map(decode),

    ...lists,
    ...createWriters(name, shape, known),
  };
};

/** Marks requests whose search is best answered from its index. PostgreSQL decides that itself. */
const searchGauge = (shape: TableShape) => {
  const rare = rareStatement(shape);
  return async <Request extends PageRequest<object>>(executor: Executor, request: Request): Promise<Request> => {
    const trigrams = executor.engine === 'sqlite' && shape.hasTrigrams ? trigramsOf(request.search ?? '') : '';
    if (trigrams === '') return request;
    const found = await rare.first(executor, { trigrams });
    return { ...request, isRare: isRare(Number(found?.found)) };
  };
};

const shapeOf = (
  name: string,
  columns: Columns,
  {
    search = [],
    computed = {},
    filters = {},
    heavy = [],
    hasTrigrams = false,
    counts,
    showsDeleted = false,
  }: Partial<TableShape & ShownDeleted>,
) => ({
  name,
  columns,
  search,
  computed,
  filters,
  heavy,
  hasTrigrams,
  counts,
  idName: 'ID' in columns ? 'ID' : 'id',
  isSoft: 'deletedAt' in columns && !showsDeleted,
});

interface ShownDeleted {
  showsDeleted: boolean;
}

/** Records by snapshot of the database: while the snapshot holds they need not be read again. */
const recordsBySnapshot = <Item>() => {
  const bySnapshot = new WeakMap<object, Map<number, Promise<Item | undefined>>>();
  return (snapshot: object) => {
    let found = bySnapshot.get(snapshot);
    if (found === undefined) {
      found = new Map();
      bySnapshot.set(snapshot, found);
    }
    return found;
  };
};

/** Callers get a copy and may change it. */
const copyFound = <Item extends object>(item: Item | undefined) => item && copyOf(item);

/** Statements by the key of their shape. */
const memory = () => {
  const statements = new Map<string, Statement<object, unknown>>();
  return (key: string, build: () => Statement<object, unknown>) => {
    let found = statements.get(key);
    if (found === undefined) {
      found = build();
      statements.set(key, found);
    }
    return found;
  };
};
