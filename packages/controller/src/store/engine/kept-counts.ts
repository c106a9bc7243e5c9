import type { Database } from './database.ts';

/** The tables of kept counts: what tells rows apart, and how the other columns are added up. */
const keptTables = {
  taskCounts: { key: ['projectID', 'status', 'verdict', 'scheduled'], rest: {} },
  notificationCounts: { key: ['audience', 'severity', 'block'], rest: { oldest: 'min', newest: 'max' } },
} as const;

/** Tables that are derived from others and no part of a backup. */
export const keptTableNames: readonly string[] = Object.keys(keptTables);

/** What was added since is removed and comes back as one row for each key, in one statement: no reader sees less or more. */
const foldOf = (table: string, key: readonly string[], rest: Readonly<Record<string, string>>) => {
  const names = (columns: readonly string[]) => columns.map((column) => `"${column}"`).join(', ');
  const combined = Object.entries(rest).map(([column, how]) => `${how}("${column}") AS "${column}"`);
  const sums = ['sum("count") AS "count"', ...combined].join(', ');
  return `WITH gone AS (DELETE FROM "${table}" RETURNING *)
    INSERT INTO "${table}" (${names([...key, 'count', ...Object.keys(rest)])})
    SELECT ${names(key)}, ${sums} FROM gone GROUP BY ${names(key)} HAVING sum("count") <> 0`;
};

/** Adds up the rows of kept counts, of which PostgreSQL gets one for each change. SQLite changes them where they stand. */
export const foldCounts = async (database: Database) => {
  if (database.engine === 'sqlite') return;
  for (const [table, { key, rest }] of Object.entries(keptTables)) {
    await database.transaction((tx) => tx.run({ name: '', sql: foldOf(table, key, rest) }, []));
  }
};
