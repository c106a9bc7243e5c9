import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Compiled,
  type Database,
  type Executor,
  type Row,
  StorageUnavailable,
  UniqueViolation,
} from './database.ts';
import { copyOf } from './row.ts';
import { createTransactions } from './sqlite-transactions.ts';

const codes = {
  ...{ permission: 3, readOnly: 8, ioError: 10, corrupt: 11, full: 13, cannotOpen: 14, notADatabase: 26 },
  ...{ constraintUnique: 2067, constraintPrimaryKey: 1555 },
};

/** The maximum delay until this process sees writes of another process to the same file. */
const snapshotMs = 100;

/** SQLite in a file: one connection writes, another reads what is committed and never waits. */
export const openSqlite = (file: string): Database => {
  // SQLite would make it readable by everybody. Its log files get the same permissions.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  const writer = connect(file);
  letShrink(file, writer);
  const reader = createReader(file);
  const { transaction, idle } = createTransactions(writer, () => reader.endSnapshot());

  return {
    engine: 'sqlite',
    run: reader.run,
    get snapshot() {
      return reader.snapshot();
    },
    transaction,
    shrink: () => shrink(transaction),
    close: async () => {
      await idle();
      reader.close();
      writer.db.close();
    },
  };
};

/** Larger files are not written anew at the start, which would take too long; a restored backup of them can shrink. */
const maxRewriteBytes = 256 * 1024 ** 2;
const incremental = 2;

/** A file of an earlier version cannot shrink before it is written anew. */
const letShrink = (file: string, { db, exec }: ReturnType<typeof connect>) => {
  const { auto_vacuum: mode } = db.prepare('PRAGMA auto_vacuum').get() as { auto_vacuum: number };
  if (mode !== incremental && statSync(file).size <= maxRewriteBytes) exec('VACUUM');
};

/** Free pages that remain, for what is written next. */
const spareShare = 0.1;
const sparePages = 1000;
/** Moving them takes some milliseconds, in which nothing else is written. */
const pagesAtOnce = 500;
const pauseMs = 20;
const pageFacts: Compiled = {
  name: 'pageFacts',
  sql: `SELECT p.page_size AS size, c.page_count AS pages, f.freelist_count AS free, v.auto_vacuum AS mode
    FROM pragma_page_size p, pragma_page_count c, pragma_freelist_count f, pragma_auto_vacuum v`,
};
const returnPages: Compiled = { name: 'returnPages', sql: `PRAGMA incremental_vacuum(${pagesAtOnce})` };

const shrink = async (transaction: Database['transaction']) => {
  let freed = 0;
  for (;;) {
    const more = await transaction(async (tx) => {
      const { size, pages, free, mode } = (await tx.run(pageFacts, []))[0] as Record<string, number>;
      const isOver = mode !== incremental || Number(free) <= Math.max(sparePages, Number(pages) * spareShare);
      if (isOver) return 0;
      await tx.run(returnPages, []);
      return Math.min(pagesAtOnce, Number(free)) * Number(size);
    });
    freed += more;
    if (more === 0) return freed;
    await sleep(pauseMs);
  }
};

/** SQLite in a file that exists and is only read. */
export const openReadOnlySqlite = (file: string): Executor & { close(): Promise<void> } => {
  try {
    const db = new DatabaseSync(file, { timeout: 10_000, readOnly: true });
    // One state for all reads, while a controller goes on writing.
    db.exec('BEGIN');
    return { engine: 'sqlite', run: runnerOf(db), close: async () => db.close() };
  } catch (error) {
    throw translate(error);
  }
};

/** Another connection that sees each write as soon as it is committed. */
export const openSqliteReader = (file: string): Executor => {
  const db = new DatabaseSync(file, { timeout: 10_000, readOnly: true });
  return { engine: 'sqlite', run: runnerOf(db) };
};

/**
 * Reads share one open read transaction until the next write: beginning one for each statement would cost more
 * than the statement. It ends with every own commit, and after `snapshotMs` for commits of other processes.
 */
const createReader = (file: string) => {
  const { db, run, exec } = connect(file);
  exec('PRAGMA query_only = ON');
  let snapshot: object | undefined;
  const beginSnapshot = () => {
    if (snapshot === undefined) {
      exec('BEGIN');
      snapshot = {};
    }
    return snapshot;
  };
  const endSnapshot = () => {
    if (snapshot !== undefined) exec('COMMIT');
    snapshot = undefined;
  };
  const timer = setInterval(endSnapshot, snapshotMs).unref();
  return {
    run: (statement: Compiled, values: readonly unknown[]) => {
      beginSnapshot();
      return run(statement, values);
    },
    snapshot: beginSnapshot,
    endSnapshot,
    close: () => {
      clearInterval(timer);
      endSnapshot();
      db.close();
    },
  };
};

const openFile = (file: string) => {
  // A new file can return space to the disk only if that is said before its first page is written.
  const pragmas = [
    'auto_vacuum = INCREMENTAL',
    'journal_mode = WAL',
    'synchronous = FULL',
    'foreign_keys = ON',
    'temp_store = MEMORY',
  ];
  try {
    const db = new DatabaseSync(file, { timeout: 10_000 });
    for (const pragma of pragmas) db.exec(`PRAGMA ${pragma}`);
    return db;
  } catch (error) {
    throw translate(error);
  }
};

const connect = (file: string) => {
  const db = openFile(file);
  assertDurable(db);
  const exec = (sql: string) => {
    try {
      db.exec(sql);
    } catch (error) {
      throw translate(error);
    }
  };
  return { db, run: runnerOf(db), exec };
};

const runnerOf = (db: DatabaseSync): Executor['run'] => {
  // The one case rule of searches: SQLite's own lower() knows ASCII only.
  db.function('fold', { deterministic: true }, (text) => (typeof text === 'string' ? text.toLowerCase() : text));
  const prepared = new WeakMap<Compiled, (values: SQLInputValue[]) => Row[]>();
  return async (statement, values) => {
    try {
      let ready = prepared.get(statement);
      if (ready === undefined) {
        ready = rowsOf(db.prepare(statement.sql));
        prepared.set(statement, ready);
      }
      return ready(values as SQLInputValue[]);
    } catch (error) {
      throw translate(error);
    }
  };
};

/**
 * Rows are built here: the driver's own objects take twice as long to create and far longer to read and copy.
 * Each is a filled copy of an empty row, because an object that grows member by member becomes as slow as theirs.
 */
const rowsOf = (statement: StatementSync) => {
  statement.setReturnArrays(true);
  const names = statement.columns().map(({ name }) => name);
  const empty: Row = Object.fromEntries(names.map((name) => [name, null]));
  const rowOf = (cells: SQLOutputValue[]) => {
    const row = copyOf(empty);
    names.forEach((name, i) => {
      row[name] = cells[i];
    });
    return row;
  };
  return (values: SQLInputValue[]) => (statement.all(...values) as unknown as SQLOutputValue[][]).map(rowOf);
};

const assertDurable = (db: DatabaseSync) => {
  const { synchronous } = db.prepare('PRAGMA synchronous').get() as { synchronous: number };
  const { journal_mode: journal } = db.prepare('PRAGMA journal_mode').get() as { journal_mode: string };
  if (synchronous !== 2 || journal !== 'wal') {
    throw new Error(
      `SQLite must run with journal_mode wal and synchronous 2 (FULL), not ${journal} and ${synchronous}`,
    );
  }
};

const damaged = 'the database file is damaged: restore it from a backup';
const readOnly = 'the database file cannot be written: check its owner, its permissions and its disk';
const unavailable = new Map([
  [codes.corrupt, damaged],
  [codes.notADatabase, damaged],
  [codes.readOnly, readOnly],
  [codes.cannotOpen, readOnly],
  [codes.permission, readOnly],
]);

const translate = (error: unknown) => {
  const { errcode = 0, message = '' } = error as { errcode?: number; message?: string };
  if (errcode === codes.constraintUnique || errcode === codes.constraintPrimaryKey) {
    const [, table, column] = /(\w+)\.(\w+)$/.exec(message) ?? [];
    return new UniqueViolation(`${table}_${column}_unique`, error);
  }
  const reason = unavailable.get(errcode & 0xff);
  if (reason !== undefined) return new StorageUnavailable(`${reason} (${message})`, { cause: error });
  if ((errcode & 0xff) === codes.full) return new StorageUnavailable('the disk is full', { cause: error });
  // After a failed write or fsync the state of the disk is unknown: exit, and let recovery read the log.
  if ((errcode & 0xff) === codes.ioError) {
    process.stderr.write(`fatal: the database could not be written: ${message}\n`);
    process.exit(70);
  }
  return error;
};
