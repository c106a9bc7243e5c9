import type { Executor, Row } from '../engine/database.ts';
import { keptTableNames } from '../engine/kept-counts.ts';

const pageRows = 1000;

const raw = (executor: Executor, sql: string, values: readonly unknown[] = []) =>
  executor.run({ name: '', sql }, values);

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** A table with partitions is one table. */
const names = `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace
  AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`;

const referencedBy = async (executor: Executor, table: string): Promise<string[]> => {
  const sql = `SELECT confrelid::regclass::text AS name FROM pg_constraint WHERE contype = 'f' AND conrelid = '${quoted(table)}'::regclass`;
  const found = (await raw(executor, sql)).map(({ name }) => String(name).replaceAll('"', ''));
  return found.filter((name) => name !== table);
};

/** All tables of a PostgreSQL database with records, each after those it refers to. */
export const orderedTables = async (executor: Executor): Promise<string[]> => {
  const waiting = new Map<string, string[]>();
  for (const { name } of await raw(executor, names)) {
    // Restoring the records makes their counts anew.
    if (keptTableNames.includes(String(name))) continue;
    waiting.set(String(name), await referencedBy(executor, String(name)));
  }
  const done: string[] = [];
  while (waiting.size > 0) {
    const ready = [...waiting].filter(([, needs]) => needs.every((name) => done.includes(name))).map(([name]) => name);
    if (ready.length === 0) throw new Error(`tables refer to each other: ${[...waiting.keys()].join(', ')}`);
    for (const name of ready) {
      waiting.delete(name);
      done.push(name);
    }
  }
  return done;
};

async function* rowsOf(executor: Executor, table: string): AsyncGenerator<Row> {
  await raw(executor, `DECLARE page CURSOR FOR SELECT * FROM ${quoted(table)}`);
  for (;;) {
    const rows = await raw(executor, `FETCH ${pageRows} FROM page`);
    yield* rows;
    if (rows.length < pageRows) break;
  }
  await raw(executor, 'CLOSE page');
}

/** Bytes as text, marked; everything else is JSON. */
const encode = (value: unknown) =>
  value instanceof Uint8Array ? { $bytes: Buffer.from(value).toString('base64') } : value;

const decode = (value: unknown) => {
  const { $bytes } = (typeof value === 'object' && value !== null ? value : {}) as { $bytes?: string };
  return $bytes === undefined ? value : Buffer.from($bytes, 'base64');
};

/** The rows of a table as lines of JSON, within one transaction of the executor. */
export async function* tableLines(executor: Executor, table: string): AsyncGenerator<string> {
  // A Buffer would turn itself into JSON before it can be marked.
  const plain = (row: Row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, encode(value)]));
  for await (const row of rowsOf(executor, table)) yield `${JSON.stringify(plain(row))}\n`;
}

/** Puts a row back. */
export const insertLine = async (tx: Executor, table: string, line: string) => {
  const row = JSON.parse(line) as Row;
  const columns = Object.keys(row);
  const marks = columns.map((_, i) => `$${i + 1}`);
  const sql = `INSERT INTO ${quoted(table)} (${columns.map(quoted).join(', ')}) VALUES (${marks.join(', ')})`;
  await raw(
    tx,
    sql,
    columns.map((name) => decode(row[name])),
  );
};

/** The audit refuses removals, but a new one is empty. */
export const emptyTable = async (tx: Executor, table: string) => {
  const rows = await raw(tx, `SELECT 1 FROM ${quoted(table)} LIMIT 1`);
  if (rows.length > 0) await raw(tx, `DELETE FROM ${quoted(table)}`);
};

/** Ids are counted apart from the rows: the next one follows the highest. */
export const continueIds = async (tx: Executor) => {
  const counted = await raw(
    tx,
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
     WHERE table_schema = current_schema() AND column_default LIKE 'nextval%'`,
  );
  for (const { table, column } of counted) {
    const [name, id] = [quoted(String(table)), quoted(String(column))];
    await raw(
      tx,
      `SELECT setval(pg_get_serial_sequence('${name}', '${column}'), (SELECT coalesce(max(${id}), 0) + 1 FROM ${name}), false)`,
    );
  }
};
