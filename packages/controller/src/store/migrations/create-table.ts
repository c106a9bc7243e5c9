import { type ColumnDataType, type CreateTableBuilder, type Kysely, sql } from 'kysely';
import type { Engine } from '../engine/database.ts';

type Kind = 'id' | 'text' | 'integer' | 'real' | 'bytes';

/** What a migration works with: a compiler of SQL for the engine and a way to run it. */
export interface Migrating {
  readonly engine: Engine;
  // biome-ignore lint/suspicious/noExplicitAny: a migration sees the schema of its own time, not today's
  readonly db: Kysely<any>;
  run(query: { compile(): { sql: string } }): Promise<void>;
  raw(text: string): Promise<void>;
}

const typeOf: Record<Engine, Record<Kind, ColumnDataType>> = {
  sqlite: { id: 'integer', text: 'text', integer: 'integer', real: 'real', bytes: 'blob' },
  postgres: { id: 'bigserial', text: 'text', integer: 'bigint', real: 'double precision', bytes: 'bytea' },
};

/**
 * Creates a table from a list of columns: `{ id: 'id', name: 'text', groupID: 'integer>groups.id', deletedAt: 'text?' }`.
 * `?` allows NULL, `>` names the column referred to, `!` makes it the primary key.
 */
export const createTable = (migrating: Migrating, name: string, columns: Record<string, string>) => {
  let table: CreateTableBuilder<string, string> = migrating.db.schema.createTable(name);
  for (const [column, spec] of Object.entries(columns)) {
    const [, kind, mark, reference] = /^(\w+)([?!]?)(?:>(.+))?$/.exec(spec) as unknown as [
      string,
      Kind,
      string,
      string?,
    ];
    table = table.addColumn(column, typeOf[migrating.engine][kind], (c) => {
      let built = c;
      if (kind === 'id')
        built = migrating.engine === 'sqlite' ? built.primaryKey().autoIncrement() : built.primaryKey();
      else if (mark === '!') built = built.primaryKey().notNull();
      else if (mark !== '?') built = built.notNull();
      return reference === undefined ? built : built.references(reference);
    });
  }
  return migrating.run(table);
};

/** A unique index named so that a violation tells the column; `live` leaves deleted records out. */
export const createUnique = (migrating: Migrating, table: string, column: string, live: 'live' | 'all' = 'all') => {
  const index = migrating.db.schema.createIndex(`${table}_${column}_unique`).unique().on(table).column(column);
  return migrating.run(live === 'live' ? index.where(sql.ref('deletedAt'), 'is', null) : index);
};

export const createIndex = (migrating: Migrating, table: string, ...columns: string[]) =>
  migrating.run(
    migrating.db.schema
      .createIndex(`${table}_${columns.join('_')}_index`)
      .on(table)
      .columns(columns),
  );
