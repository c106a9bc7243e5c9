import { copyFileSync, createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Shelf } from '../blobs/shelved-blobs.ts';
import type { Database, Executor } from '../engine/database.ts';
import {
  blobFile,
  databaseCopy,
  hashOfFile,
  keyFile,
  type Manifest,
  manifestFormat,
  tableFile,
  writeManifest,
} from './manifest.ts';
import { orderedTables, tableLines } from './table-lines.ts';

interface BackupParts {
  readonly folder: string;
  /** Of SQLite, to be copied as a whole. */
  readonly databaseFile: string;
  readonly read: Executor & Partial<Pick<Database, 'transaction'>>;
  readonly shelf: Pick<Shelf, 'list' | 'read' | 'size'>;
  /** The key file of the data folder; undefined when the key is given elsewhere. */
  readonly key: string | undefined;
  readonly version: string;
}

/** Content is named by its hash and never changes, so what a former backup has is kept. */
const copyBlobs = async (shelf: BackupParts['shelf'], folder: string): Promise<string[]> => {
  const copied: string[] = [];
  for await (const { sha256 } of shelf.list()) {
    const target = blobFile(folder, sha256);
    if (!existsSync(target)) {
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
      const draft = `${target}.new`;
      try {
        await pipeline(await shelf.read(sha256, 0), createWriteStream(draft, { mode: 0o600, flush: true }));
      } catch (error) {
        rmSync(draft, { force: true });
        // It was removed while the list was read.
        if ((await shelf.size(sha256)) === undefined) continue;
        throw error;
      }
      renameSync(draft, target);
    }
    copied.push(sha256);
  }
  return copied;
};

const copyTable = async (read: Executor, folder: string, name: string): Promise<Manifest['tables'][number]> => {
  let rows = 0;
  async function* counted() {
    for await (const line of tableLines(read, name)) {
      rows += 1;
      yield line;
    }
  }
  const file = tableFile(folder, name);
  await pipeline(Readable.from(counted()), createGzip(), createWriteStream(file, { mode: 0o600, flush: true }));
  return { name, rows, sha256: await hashOfFile(file) };
};

const versionOf = async (read: Executor) => {
  const sql = `SELECT "value" FROM "installation" WHERE "name" = 'schemaVersion'`;
  return Number((await read.run({ name: '', sql }, []))[0]?.['value']);
};

type DatabasePart = Pick<Manifest, 'engine' | 'schemaVersion' | 'tables' | 'databaseSha256'>;

/** A copy of one state of the file, made by SQLite while others write. */
const copySqlite = async ({ databaseFile, folder }: BackupParts, schemaVersion: number): Promise<DatabasePart> => {
  const target = databaseCopy(folder);
  rmSync(target, { force: true });
  using db = new DatabaseSync(databaseFile, { timeout: 60_000, readOnly: true });
  // So that the file of a restored backup can shrink.
  // A file that has the mode keeps it in the copy; setting it again would write to the original.
  if ((db.prepare('PRAGMA auto_vacuum').get() as { auto_vacuum: number }).auto_vacuum === 0)
    db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  db.prepare('VACUUM INTO ?').run(target);
  return { engine: 'sqlite', schemaVersion, tables: [], databaseSha256: await hashOfFile(target) };
};

/** All tables as they are at one moment. */
const copyDatabase = async (parts: BackupParts): Promise<DatabasePart> => {
  const { read, folder } = parts;
  const schemaVersion = await versionOf(read);
  if (read.transaction === undefined) return copySqlite(parts, schemaVersion);
  return read.transaction(async (tx) => {
    await tx.run({ name: '', sql: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ' }, []);
    const tables: Manifest['tables'][number][] = [];
    for (const name of await orderedTables(tx)) tables.push(await copyTable(tx, folder, name));
    return { engine: 'postgres', schemaVersion, tables };
  });
};

/**
 * Copies database, file contents and key while the controller runs. Contents are copied before and after the database,
 * so that everything the database refers to at its moment is there.
 */
export const backup = async (parts: BackupParts): Promise<Manifest> => {
  const { folder, shelf, key, version } = parts;
  mkdirSync(join(folder, 'tables'), { recursive: true, mode: 0o700 });
  rmSync(join(folder, 'manifest.json'), { force: true });
  const before = await copyBlobs(shelf, folder);
  const database = await copyDatabase(parts);
  const after = await copyBlobs(shelf, folder);
  if (key !== undefined) copyFileSync(key, keyFile(folder));
  const manifest: Manifest = {
    format: manifestFormat,
    version,
    createdAt: new Date().toISOString(),
    hasKey: key !== undefined,
    ...database,
    blobs: [...new Set([...before, ...after])].sort(),
  };
  writeManifest(folder, manifest);
  return manifest;
};
