import { copyFileSync, createReadStream, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { StartError } from '../../errors.ts';
import type { Shelf } from '../blobs/shelved-blobs.ts';
import type { Database, Executor } from '../engine/database.ts';
import { migrate } from '../engine/migrate.ts';
import { blobFile, databaseCopy, hashOfFile, keyFile, type Manifest, tableFile } from './manifest.ts';
import { continueIds, emptyTable, insertLine, orderedTables } from './table-lines.ts';

/** Every file must be there and unchanged before anything is written. */
export const verifyBackup = async (folder: string, { tables, blobs, databaseSha256 }: Manifest) => {
  const problems: string[] = [];
  if (databaseSha256 !== undefined) {
    const found = await hashOfFile(databaseCopy(folder)).catch(() => 'missing');
    if (found !== databaseSha256) problems.push(`rushhour.db is ${found === 'missing' ? 'missing' : 'damaged'}`);
  }
  for (const { name, sha256 } of tables) {
    const found = await hashOfFile(tableFile(folder, name)).catch(() => 'missing');
    if (found !== sha256) problems.push(`tables/${name}.jsonl.gz is ${found === 'missing' ? 'missing' : 'damaged'}`);
  }
  for (const sha256 of blobs) {
    // Contents that are sealed have another hash than their name.
    await hashOfFile(blobFile(folder, sha256)).catch(() => problems.push(`content ${sha256} is missing`));
  }
  if (problems.length > 0)
    throw new StartError(`the backup is not whole:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
};

/** Lines end with a line feed alone: texts of users contain the other characters that end lines. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(path).pipe(createGunzip()).setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

const restoreTable = async (tx: Executor, folder: string, name: string): Promise<number> => {
  let rows = 0;
  for await (const line of linesOf(tableFile(folder, name))) {
    await insertLine(tx, name, line);
    rows += 1;
  }
  return rows;
};

const restoreTables = async (database: Database, folder: string, { tables, schemaVersion }: Manifest) => {
  await migrate(database, schemaVersion);
  await database.transaction(async (tx) => {
    const order = await orderedTables(tx);
    for (const name of order.toReversed()) await emptyTable(tx, name);
    for (const name of order) {
      const entry = tables.find((table) => table.name === name);
      const rows = entry === undefined ? 0 : await restoreTable(tx, folder, name);
      if (entry !== undefined && rows !== entry.rows)
        throw new StartError(`table ${name} has ${rows} of ${entry.rows} rows`);
    }
    await continueIds(tx);
  });
};

interface RestoreParts {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly dataDir: string;
  /** An empty database of PostgreSQL, or the file that becomes one of SQLite. */
  readonly database: Database | string;
  readonly shelf: Pick<Shelf, 'put'>;
}

/** Puts a verified backup into an empty database and storage. */
export const restore = async ({ folder, manifest, dataDir, database, shelf }: RestoreParts) => {
  const temporary = join(dataDir, 'restore');
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  for (const sha256 of manifest.blobs) {
    // The storage takes the file over, so it gets a copy.
    const copy = join(temporary, sha256);
    copyFileSync(blobFile(folder, sha256), copy);
    await shelf.put(copy, sha256);
  }
  rmSync(temporary, { recursive: true, force: true });
  if (manifest.hasKey) copyFileSync(keyFile(folder), join(dataDir, 'secret.key'));
  if (typeof database === 'string') copyFileSync(databaseCopy(folder), database);
  else await restoreTables(database, folder, manifest);
};
