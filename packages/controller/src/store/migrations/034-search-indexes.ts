import type { Migrating } from './create-table.ts';

/** The texts of large tables that searches look into. */
const searched: Record<string, readonly string[]> = { tasks: ['comment'], files: ['name', 'tags', 'mime'] };

/** Searches read an index of every three characters in a row. */
export const searchIndexes = async (m: Migrating) => {
  if (m.engine === 'postgres') return onPostgres(m);
  for (const [table, columns] of Object.entries(searched)) {
    for (const text of onSqlite(table, columns)) await m.raw(text);
  }
};

/** The extension comes with PostgreSQL; where the user of the database must not create it, searches read all records. */
const onPostgres = async (m: Migrating) => {
  const indexes = Object.entries(searched).map(([table, columns]) => {
    const texts = columns.map((column) => `lower("${column}") gin_trgm_ops`);
    return `CREATE INDEX "${table}_search_index" ON "${table}" USING gin (${texts.join(', ')});`;
  });
  await m.raw(`DO $$ BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    ${indexes.join('\n')}
  EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported OR undefined_object THEN
    RAISE NOTICE 'searches have no index: %', SQLERRM;
  END $$`);
};

const onSqlite = (table: string, columns: readonly string[]) => {
  const index = `"${table}Trigrams"`;
  const names = columns.map((column) => `"${column}"`).join(', ');
  const valuesOf = (row: string) => columns.map((column) => `${row}."${column}"`).join(', ');
  const add = `INSERT INTO ${index} (rowid, ${names}) VALUES (new."id", ${valuesOf('new')});`;
  const remove = `INSERT INTO ${index} (${index}, rowid, ${names}) VALUES ('delete', old."id", ${valuesOf('old')});`;
  return [
    // Without the positions of texts the index is small; what it finds is compared with the search anyway.
    `CREATE VIRTUAL TABLE ${index} USING fts5(${names}, content='${table}', content_rowid='id', tokenize='trigram', detail='none', columnsize=0)`,
    `INSERT INTO ${index} (${index}) VALUES ('rebuild')`,
    `CREATE TRIGGER "${table}_search_insert" AFTER INSERT ON "${table}" BEGIN ${add} END`,
    `CREATE TRIGGER "${table}_search_delete" AFTER DELETE ON "${table}" BEGIN ${remove} END`,
    `CREATE TRIGGER "${table}_search_update" AFTER UPDATE OF ${names} ON "${table}" BEGIN ${remove} ${add} END`,
  ];
};
