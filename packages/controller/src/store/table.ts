import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely';
import type { Change } from './change.ts';
import { type Columns, maybeText, type RecordOf, text } from './column.ts';
import type { Engine, Executor } from './database.ts';
import { type Statement, statement } from './statement.ts';
import { type TableName, tables } from './tables/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: the generic repository compiles for any table; its callers are typed
type Any = any;
type Expression = RawBuilder<unknown>;
export interface LightUser {
  id: number;
  email: string;
  realName: string;
}

interface Options<Computed, Filters> {
  /** Text columns that `search` looks into. */
  search?: readonly string[];
  /** Members computed by the database, by name; the table is `t`. */
  computed?: { [K in keyof Computed]: (engine: Engine) => RawBuilder<Computed[K]> };
  /** Named conditions of the list; each gets its value as a placeholder. */
  filters?: { [K in keyof Filters]: (value: Filters[K], engine: Engine) => Expression };
}

export interface PageRequest<Filters> {
  key: string;
  order: 'asc' | 'desc';
  limit: number;
  offset: number;
  search?: string | undefined;
  filters?: { [K in keyof Filters]?: Filters[K] | undefined };
}

type Stored<Name extends TableName> = RecordOf<(typeof tables)[Name]>;
export type Found<Name extends TableName, Computed> = Stored<Name> & Computed & { issuer: LightUser | null };

/** The one repository: every collection's table behaves the same. Statements are compiled once for each shape. */
export const createTable = <Name extends TableName, Computed = unknown, Filters = unknown>(
  name: Name,
  options: Options<Computed, Filters> = {},
) => {
  type Item = Found<Name, Computed>;
  const columns = tables[name] as Columns;
  const idName = 'ID' in columns ? 'ID' : 'id';
  const isSoft = 'deletedAt' in columns;
  const issuerName = issuerNameOf(columns);
  const decode = decoderOf(columns) as (row: Record<string, unknown>) => Item;
  const shapes = new Map<string, Statement<Any, Any>>();
  const shaped = (key: string, build: () => Statement<Any, Any>) => {
    let found = shapes.get(key);
    if (found === undefined) {
      found = build();
      shapes.set(key, found);
    }
    return found;
  };

  const select = (db: Any, engine: Engine) => {
    let query = db.selectFrom(`${name} as t`).selectAll('t');
    if (issuerName !== undefined) {
      query = query
        .leftJoin('users as issuer', 'issuer.id', `t.${issuerName}`)
        .select(['issuer.email as issuerEmail', 'issuer.realName as issuerName']);
    }
    for (const [member, build] of Object.entries(options.computed ?? {})) {
      query = query.select((build as (engine: Engine) => RawBuilder<unknown>)(engine).as(member));
    }
    return isSoft ? query.where('t.deletedAt', 'is', null) : query;
  };

  const byId = statement((db, p: { id: number }, engine) => select(db, engine).where(`t.${idName}`, '=', p.id));
  const byIds = statement((db, p: { ids: string }, engine) =>
    select(db, engine)
      .where(inList(`t.${idName}`, p.ids, engine))
      .orderBy(`t.${idName}`),
  );

  const conditions = (query: Any, request: PageRequest<Filters>, p: Any, engine: Engine) => {
    let built = query;
    if (request.search) {
      built = built.where((eb: ExpressionBuilder<Any, Any>) =>
        eb.or((options.search ?? []).map((column) => contains(`t.${column}`, p.search, engine) as Any)),
      );
    }
    for (const [filter, value] of Object.entries(request.filters ?? {})) {
      const condition = (options.filters as Any)?.[filter];
      if (value !== undefined && condition) built = built.where(condition(p[filter], engine));
    }
    return built;
  };
  const shapeOf = (request: PageRequest<Filters>) => {
    const active = Object.entries(request.filters ?? {}).filter(([, value]) => value !== undefined);
    return `${request.search ? 'search' : ''}|${active.map(([filter]) => filter).join()}`;
  };
  const parametersOf = (request: PageRequest<Filters>) => ({
    ...request.filters,
    search: request.search && `%${request.search.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`,
    limit: request.limit,
    offset: request.offset,
  });

  return {
    find: async (executor: Executor, id: number): Promise<Item | undefined> => {
      const row = (await byId.first(executor, { id })) as Record<string, unknown> | undefined;
      return row && decode(row);
    },

    findMany: async (executor: Executor, ids: readonly number[]): Promise<Item[]> =>
      (await byIds.all(executor, { ids: JSON.stringify(ids) })).map((row) => decode(row as Record<string, unknown>)),

    page: async (executor: Executor, request: PageRequest<Filters>): Promise<{ rows: Item[]; total: number }> => {
      const shape = shapeOf(request);
      const sorted = shaped(`${request.key}|${request.order}|${shape}`, () =>
        statement((db, p: Any, engine) =>
          conditions(select(db, engine), request, p, engine)
            .orderBy(sortBy(request.key, columns, options.computed as Any, engine), request.order)
            .orderBy(`t.${idName}`, request.order)
            .limit(p.limit)
            .offset(p.offset),
        ),
      );
      const counted = shaped(`count|${shape}`, () =>
        statement((db: Any, p: Any, engine) => {
          const all = db.selectFrom(`${name} as t`).select(sql<number>`count(*)`.as('total'));
          return conditions(isSoft ? all.where('t.deletedAt', 'is', null) : all, request, p, engine);
        }),
      );
      const parameters = parametersOf(request);
      const [rows, count] = await Promise.all([sorted.all(executor, parameters), counted.first(executor, parameters)]);
      return { rows: rows.map(decode), total: Number(count?.total ?? 0) };
    },

    insert: async (tx: Change, values: Partial<Stored<Name>>): Promise<number> => {
      const record = { ...stampsOf(columns, tx), ...values };
      const names = Object.keys(columns).filter((column) => column in record);
      const insert = shaped(`insert|${names.join()}`, () =>
        statement((db: Any, p: Any) =>
          db
            .insertInto(name)
            .values(Object.fromEntries(names.map((column) => [column, p[column]])))
            .returning(idName),
        ),
      );
      const row = await insert.first(tx, encode(columns, record));
      const id = Number(row?.[idName]);
      tx.touch(name, id);
      return id;
    },

    /** False when there is no such record. `null` stores the column's cleared value. */
    update: async (
      tx: Change,
      id: number,
      values: { [K in keyof Stored<Name>]?: Stored<Name>[K] | null | undefined },
    ) => {
      const record = { ...('updatedAt' in columns && { updatedAt: tx.now }), ...values } as Record<string, unknown>;
      const names = Object.keys(columns).filter((column) => record[column] !== undefined && column !== idName);
      const update = shaped(`update|${names.join()}`, () =>
        statement((db: Any, p: Any) => {
          const query = db
            .updateTable(name)
            .set(Object.fromEntries(names.map((column) => [column, p[column]])))
            .where(idName, '=', p[idName])
            .returning(idName);
          return isSoft ? query.where('deletedAt', 'is', null) : query;
        }),
      );
      const row = await update.first(tx, { ...encode(columns, record), [idName]: id });
      if (row !== undefined) tx.touch(name, id);
      return row !== undefined;
    },

    /** Removes records, or marks them deleted where the table keeps them. Answers the ids that were there. */
    remove: async (tx: Change, ids: readonly number[]): Promise<number[]> => {
      const remove = shaped('remove', () =>
        statement((db: Any, p: Any, engine) =>
          isSoft
            ? db
                .updateTable(name)
                .set({ deletedAt: p.now })
                .where(inList(idName, p.ids, engine))
                .where('deletedAt', 'is', null)
                .returning(idName)
            : db
                .deleteFrom(name)
                .where(inList(idName, p.ids, engine))
                .returning(idName),
        ),
      );
      const rows = await remove.all(tx, { ids: JSON.stringify(ids), now: tx.now });
      const removed = rows.map((row: Any) => Number(row[idName]));
      for (const id of removed) tx.touch(name, id);
      return removed;
    },
  };
};

export type Table<Name extends TableName, Computed = unknown, Filters = unknown> = ReturnType<
  typeof createTable<Name, Computed, Filters>
>;

/** `column in (the ids of a JSON array)`: one statement for any number of ids. */
export const inList = (column: string, ids: unknown, engine: Engine) =>
  engine === 'sqlite'
    ? sql<boolean>`${sql.ref(column)} in (select value from json_each(${ids}))`
    : sql<boolean>`${sql.ref(column)} in (select value::bigint from json_array_elements_text(${ids}::json))`;

/** `column in (the texts of a JSON array)`. */
export const inTexts = (column: string, texts: unknown, engine: Engine) =>
  engine === 'sqlite'
    ? sql<boolean>`${sql.ref(column)} in (select value from json_each(${texts}))`
    : sql<boolean>`${sql.ref(column)} in (select json_array_elements_text(${texts}::json))`;

/** `column contains pattern`, upper and lower case alike; the pattern comes folded and escaped. */
const contains = (column: string, pattern: unknown, engine: Engine) =>
  engine === 'sqlite'
    ? sql<boolean>`fold(${sql.ref(column)}) like ${pattern} escape '\\'`
    : sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;

const sortBy = (key: string, columns: Columns, computed: Record<string, unknown> | undefined, engine: Engine) => {
  if (computed?.[key]) return sql.ref(key);
  const isText = columns[key] === text || columns[key] === maybeText;
  return isText && engine === 'postgres' ? sql`${sql.ref(`t.${key}`)} collate "C"` : sql.ref(`t.${key}`);
};

/** The column with the author of a record: the document spells it `issuerID` on most records and `issuerId` on a few. */
const issuerNameOf = (columns: Columns) => ['issuerID', 'issuerId'].find((name) => name in columns);

const stampsOf = (columns: Columns, tx: Change) => {
  const issuerName = issuerNameOf(columns);
  return {
    ...('createdAt' in columns && { createdAt: tx.now }),
    ...('updatedAt' in columns && { updatedAt: tx.now }),
    ...(issuerName && { [issuerName]: tx.userId }),
  };
};

const encode = (columns: Columns, record: Record<string, unknown>) => {
  const encoded: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(record)) {
    const column = columns[name];
    if (column === undefined || value === undefined) continue;
    const stored = value === null ? column.cleared : value;
    encoded[name] = stored === null || column.encode === undefined ? stored : column.encode(stored);
  }
  return encoded;
};

const decoderOf = (columns: Columns) => {
  const coded = Object.entries(columns).filter(([, column]) => column.decode !== undefined);
  const issuerName = issuerNameOf(columns);
  return (row: Record<string, unknown>) => {
    for (const [name, column] of coded) if (row[name] !== null) row[name] = column.decode?.(row[name]);
    if (issuerName !== undefined) {
      row['issuer'] =
        row['issuerEmail'] === null || row[issuerName] === null
          ? null
          : { id: row[issuerName], email: row['issuerEmail'], realName: row['issuerName'] };
    }
    return row;
  };
};
