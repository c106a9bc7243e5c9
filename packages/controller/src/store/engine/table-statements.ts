import { type RawBuilder, sql } from 'kysely';
import { type Columns, maybeText, text } from './column.ts';
import type { Engine } from './database.ts';
import { contains, containsAscii, inList, isAscii, patternOf, textOrder, trigramsOf } from './expressions.ts';
import { issuerNameOf } from './row.ts';
import { type Statement, statement } from './statement.ts';

// biome-ignore lint/suspicious/noExplicitAny: the generic repository compiles for any table; its callers are typed
type Any = any;
type Compute = (engine: Engine) => RawBuilder<unknown>;
type Condition = (value: unknown, engine: Engine) => RawBuilder<unknown>;

export interface TableShape {
  name: string;
  idName: string;
  columns: Columns;
  /** Records are marked deleted and then left out. */
  isSoft: boolean;
  search: readonly string[];
  computed: Record<string, Compute>;
  filters: Record<string, Condition>;
  heavy: readonly string[];
  /** SQLite has an index of the three characters in a row of the texts that `search` looks into. */
  hasTrigrams: boolean;
  counts: KeptCounts | undefined;
}

/** A table that holds how many records there are, by columns that filters look at. */
export interface KeptCounts {
  readonly table: string;
  /** The filters that may be active; conditions on columns which the counts have too. */
  readonly filters: readonly string[];
  /** A filter that must be active: only such records are counted. */
  readonly only?: string;
}

export interface PageRequest<Filters> {
  key: string;
  order: 'asc' | 'desc';
  limit: number;
  offset: number;
  search?: string | undefined;
  filters?: { [K in keyof Filters]?: Filters[K] | undefined };
  /** Without the table's heavy columns. */
  isLight?: boolean;
  /** So few records are found by the search that they are best looked up in its index. */
  isRare?: boolean;
}

/** All columns; on a light page the heavy ones have their cleared value. */
const columnsOf = ({ columns, heavy }: TableShape, query: Any, isLight: boolean) => {
  if (!isLight) return query.selectAll('t');
  const selected = Object.entries(columns).map(([name, { cleared, encode }]) =>
    heavy.includes(name) ? sql.lit(cleared === null ? null : (encode?.(cleared) ?? cleared)).as(name) : `t.${name}`,
  );
  return query.select(selected);
};

/** The base select of all reads: columns, author and computed members, without deleted records. */
const select = (shape: TableShape, db: Any, engine: Engine, isLight = false) => {
  const { name, columns, computed, isSoft } = shape;
  const issuerName = issuerNameOf(columns);
  let query = columnsOf(shape, db.selectFrom(`${name} as t`), isLight);
  if (issuerName !== undefined) {
    query = query
      .leftJoin('users as issuer', 'issuer.id', `t.${issuerName}`)
      .select(['issuer.email as issuerEmail', 'issuer.realName as issuerName']);
  }
  for (const [member, compute] of Object.entries(computed)) query = query.select(compute(engine).as(member));
  return isSoft ? query.where('t.deletedAt', 'is', null) : query;
};

export const findStatement = (shape: TableShape): Statement<{ id: number }, Any> =>
  statement((db, p: { id: number }, engine) => select(shape, db, engine).where(`t.${shape.idName}`, '=', p.id));

export const findManyStatement = (shape: TableShape): Statement<{ ids: string }, Any> =>
  statement((db, p: { ids: string }, engine) =>
    select(shape, db, engine)
      .where(inList(`t.${shape.idName}`, p.ids, engine))
      .orderBy(`t.${shape.idName}`),
  );

const activeFilters = ({ filters = {} }: PageRequest<object>) =>
  Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);

const searchKind = ({ search }: PageRequest<object>) => (!search ? '' : isAscii(search) ? 'ascii' : 'text');

/** The part of a request that determines its statements; equal keys share statements. */
export const conditionsKey = (request: PageRequest<object>) =>
  `${searchKind(request)}|${request.isRare === true}|${activeFilters(request).join()}`;

const trigramIndex = ({ name }: TableShape) => sql.ref(`${name}Trigrams`);

const restrict = (shape: TableShape, query: Any, request: PageRequest<object>, p: Any, engine: Engine) => {
  let built = query;
  if (request.search) {
    const find = searchKind(request) === 'ascii' ? containsAscii : contains;
    built = built.where((eb: Any) => eb.or(shape.search.map((column) => find(`t.${column}`, p.search, engine))));
    const index = trigramIndex(shape);
    if (request.isRare) {
      built = built.where(
        sql`${sql.ref(`t.${shape.idName}`)} in (select rowid from ${index} where ${index} match ${p.trigrams})`,
      );
    }
  }
  for (const name of activeFilters(request)) {
    const condition = shape.filters[name];
    if (condition) built = built.where(condition(p[name], engine));
  }
  return built;
};

const sortBy = ({ columns, computed }: TableShape, key: string, engine: Engine) => {
  if (computed[key]) return sql.ref(key);
  const isText = columns[key] === text || columns[key] === maybeText;
  return isText ? textOrder(`t.${key}`, engine) : sql.ref(`t.${key}`);
};

/**
 * Sorting is total: ties are broken by id, so that pages never overlap. First the ids of the page are found, from an
 * index where there is one; only the records of the page itself are read, whatever comes before it.
 */
export const pageStatement = (shape: TableShape, request: PageRequest<object>): Statement<object, Any> =>
  statement((db, p: Any, engine) => {
    const { name, idName, computed, isSoft } = shape;
    const id = `t.${idName}`;
    const sort = (query: Any) =>
      query.orderBy(sortBy(shape, request.key, engine), request.order).orderBy(id, request.order);
    const cut = (query: Any) =>
      sort(restrict(shape, query, request, p, engine))
        .limit(p.limit)
        .offset(p.offset);
    const records = select(shape, db, engine, request.isLight);
    if (computed[request.key]) return cut(records);
    const ids = (db as Any).selectFrom(`${name} as t`).select(id);
    return sort(records.where(id, 'in', cut(isSoft ? ids.where('t.deletedAt', 'is', null) : ids)));
  });

export const countStatement = (shape: TableShape, request: PageRequest<object>): Statement<object, Any> =>
  statement((db: Any, p: Any, engine) => {
    const all = db.selectFrom(`${shape.name} as t`).select(sql<number>`count(*)`.as('total'));
    return restrict(shape, shape.isSoft ? all.where('t.deletedAt', 'is', null) : all, request, p, engine);
  });

/** The sum of kept counts, where they answer the request. */
export const keptCountStatement = (
  shape: TableShape,
  request: PageRequest<object>,
): Statement<object, Any> | undefined => {
  const { counts, filters } = shape;
  const active = activeFilters(request);
  if (counts === undefined || request.search || (counts.only !== undefined && !active.includes(counts.only))) return;
  const asked = active.filter((name) => name !== counts.only);
  if (asked.some((name) => !counts.filters.includes(name))) return;
  return statement((db: Any, p: Any, engine) => {
    let total = db.selectFrom(`${counts.table} as t`).select(sql<number>`coalesce(sum(t.count), 0)`.as('total'));
    for (const name of asked) total = total.where(filters[name]?.(p[name], engine));
    return total;
  });
};

/** More than this many records are read faster without the index. */
const maxRare = 2000;
/** Whether an index tells that a search finds few records. */
export const rareStatement = (shape: TableShape): Statement<{ trigrams: string }, { found: number }> =>
  statement((db: Any, p: { trigrams: string }) => {
    const index = trigramIndex(shape);
    const found = sql<{
      found: number;
    }>`select count(*) as found from (select 1 from ${index} where ${index} match ${p.trigrams} limit ${sql.lit(maxRare + 1)})`;
    return { compile: () => found.compile(db) };
  });
export const isRare = (found: number) => found <= maxRare;

export const parametersOf = ({ filters, search, limit, offset }: PageRequest<object>) => ({
  ...filters,
  search: search && patternOf(search),
  trigrams: search && trigramsOf(search),
  limit,
  offset,
});

const placeholdersFor = (names: readonly string[], p: Any) => Object.fromEntries(names.map((name) => [name, p[name]]));

export const insertStatement = ({ name, idName }: TableShape, columns: readonly string[]): Statement<object, Any> =>
  statement((db: Any, p: Any) => db.insertInto(name).values(placeholdersFor(columns, p)).returning(idName));

export const updateStatement = (
  { name, idName, isSoft }: TableShape,
  columns: readonly string[],
): Statement<object, Any> =>
  statement((db: Any, p: Any) => {
    const update = db
      .updateTable(name)
      .set(placeholdersFor(columns, p))
      .where(idName, '=', p[idName])
      .returning(idName);
    return isSoft ? update.where('deletedAt', 'is', null) : update;
  });

export const removeStatement = ({ name, idName, isSoft }: TableShape): Statement<{ ids: string; now: string }, Any> =>
  statement((db: Any, p: Any, engine) => {
    const remove = isSoft
      ? db.updateTable(name).set({ deletedAt: p.now }).where('deletedAt', 'is', null)
      : db.deleteFrom(name);
    return remove.where(inList(idName, p.ids, engine)).returning(idName);
  });
