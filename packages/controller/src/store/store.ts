import { statSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../errors.ts';
import { prepareDataFolder } from './data-folder.ts';
import { anchorAudit } from './engine/audit.ts';
import { createChange, type RunChange } from './engine/change.ts';
import type { Database, Executor } from './engine/database.ts';
import { migrate } from './engine/migrate.ts';
import { assertKeyFits, checkKey, createSecrets, isSealed, loadKey, type Secrets } from './engine/secrets.ts';
import { openReadOnlySqlite, openSqlite, openSqliteReader } from './engine/sqlite.ts';
import { createTimings, type Timings, withTimings } from './engine/timings.ts';
import { createSamplePartitions } from './runs/sample-partitions.ts';
import { sealStoredSecrets } from './tasks/seal-stored-secrets.ts';

export interface StoreOptions {
  dataDir: string;
  databaseUrl?: string | undefined;
  secretKey?: Buffer | undefined;
}

/** A file, or the URL of a database. */
export interface StoreLocation {
  readonly file: string;
  readonly databaseUrl: string | undefined;
}

export interface Store {
  readonly database: Database;
  /** Reads what is committed. */
  readonly read: Executor;
  readonly change: RunChange;
  readonly secrets: Secrets;
  /** How long reads and transactions take. */
  readonly timings: Timings;
  readonly schemaVersion: number;
  /** Where further connections find it. */
  readonly location: StoreLocation;
  close(): Promise<void>;
}

export const databaseFile = (dataDir: string) => join(dataDir, 'rushhour.db');

/** Opens the database, brings its schema up to date and checks that the secret key fits. */
export const openStore = async ({ dataDir, databaseUrl, secretKey }: StoreOptions): Promise<Store> => {
  prepareDataFolder(dataDir);
  // The PostgreSQL driver is loaded only where it is used.
  const database =
    databaseUrl === undefined
      ? openSqlite(databaseFile(dataDir))
      : (await import('./engine/postgres.ts')).openPostgres(databaseUrl);
  const timings = createTimings();
  withTimings(database, timings);
  try {
    const secrets = createSecrets(loadKey(secretKey, dataDir, await isSealed(database)));
    const schemaVersion = await migrate(database);
    await createSamplePartitions(database);
    await checkKey(database, secrets);
    await anchorAudit(database, secrets);
    await sealStoredSecrets(database, secrets);
    return {
      database,
      read: database,
      change: createChange(database, secrets),
      secrets,
      timings,
      schemaVersion,
      location: { file: databaseFile(dataDir), databaseUrl },
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
};

/** Another connection that reads what is committed, each statement at its moment. */
export const openReader = async ({ file, databaseUrl }: StoreLocation): Promise<Executor> =>
  databaseUrl === undefined
    ? openSqliteReader(file)
    : (await import('./engine/postgres.ts')).openPostgres(databaseUrl, { isReadOnly: true });

const noData = (where: string) =>
  new StartError(`there is no database of a controller in ${where}: set RUSHHOUR_DATA_DIR or DATABASE_URL to its data`);

const openForReading = async (dataDir: string, databaseUrl: string | undefined) => {
  if (databaseUrl !== undefined)
    return (await import('./engine/postgres.ts')).openPostgres(databaseUrl, { isReadOnly: true });
  const file = databaseFile(dataDir);
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) throw noData(file);
  return openReadOnlySqlite(file);
};

/** Opens a database that exists, with the key it is sealed with; nothing is created or changed. */
export const openStoreReadOnly = async ({ dataDir, databaseUrl, secretKey }: StoreOptions) => {
  const read = await openForReading(dataDir, databaseUrl);
  try {
    if (!(await isSealed(read))) throw noData(databaseUrl === undefined ? dataDir : 'DATABASE_URL');
    const secrets = createSecrets(loadKey(secretKey, dataDir, true));
    await assertKeyFits(read, secrets);
    return { read, secrets, close: () => read.close() };
  } catch (error) {
    await read.close();
    throw error;
  }
};
