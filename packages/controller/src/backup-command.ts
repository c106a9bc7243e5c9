import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Config, ConfigError, readConfig } from './config.ts';
import { StartError } from './errors.ts';
import { backup } from './store/backup/backup.ts';
import { readManifest } from './store/backup/manifest.ts';
import { restore, verifyBackup } from './store/backup/restore.ts';
import { createFolderShelf } from './store/blobs/folder.ts';
import { lockDataFolder, prepareDataFolder } from './store/data-folder.ts';
import { hasTable } from './store/engine/migrate.ts';
import { databaseFile, openStoreReadOnly } from './store/store.ts';
import { build } from './system/build.ts';

const usage = 'usage: rushhour backup FOLDER | rushhour restore FOLDER';
const print = (text: string) => process.stdout.write(`${text}\n`);

const shelfOf = async ({ s3Url, dataDir }: Config) =>
  s3Url === undefined
    ? createFolderShelf(join(dataDir, 'files'))
    : (await import('./store/blobs/s3.ts')).createS3Shelf(s3Url);

const makeBackup = async (config: Config, folder: string) => {
  const store = await openStoreReadOnly(config);
  const file = join(config.dataDir, 'secret.key');
  const key = config.secretKey === undefined ? file : undefined;
  try {
    const { engine, blobs, hasKey } = await backup({
      folder,
      databaseFile: databaseFile(config.dataDir),
      read: store.read,
      shelf: await shelfOf(config),
      key,
      version: build.version,
    });
    print(`backup in ${folder}: the ${engine} database and ${blobs.length} file contents`);
    if (hasKey) print('it holds the secret key of the installation: keep it as safe as the controller itself');
    else print('it does not hold the secret key, which is in RUSHHOUR_SECRET_KEY: keep that, too');
  } finally {
    await store.close();
  }
};

const notEmpty = () => new StartError('the database is not empty: restore into a new data folder or a new database');

/** Where the database goes: the path of a file, or an empty database of PostgreSQL. */
const openEmpty = async ({ dataDir, databaseUrl }: Config) => {
  if (databaseUrl === undefined) {
    const file = databaseFile(dataDir);
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) throw notEmpty();
    return { database: file, close: async () => {} };
  }
  const database = (await import('./store/engine/postgres.ts')).openPostgres(databaseUrl);
  const close = () => database.close();
  if (!(await hasTable(database, 'installation'))) return { database, close };
  await close();
  throw notEmpty();
};

const restoreBackup = async (config: Config, folder: string) => {
  const manifest = readManifest(folder);
  await verifyBackup(folder, manifest);
  if (!manifest.hasKey && config.secretKey === undefined && !existsSync(join(config.dataDir, 'secret.key'))) {
    throw new StartError('the backup was made without its secret key: set RUSHHOUR_SECRET_KEY to it');
  }
  const engine = config.databaseUrl === undefined ? 'sqlite' : 'postgres';
  if (manifest.engine !== engine)
    throw new StartError(`the backup is of ${manifest.engine}, the configuration of ${engine}`);
  prepareDataFolder(config.dataDir);
  const unlock = lockDataFolder(config.dataDir);
  try {
    const { database, close } = await openEmpty(config);
    await restore({ folder, manifest, dataDir: config.dataDir, database, shelf: await shelfOf(config) }).finally(close);
  } finally {
    unlock();
  }
  print(`restored the backup of ${manifest.createdAt}; now start the controller`);
};

const main = async () => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [command, folder, ...more] = positionals;
  if (folder === undefined || more.length > 0) throw new ConfigError(usage);
  process.umask(0o077);
  const config = readConfig(process.env);
  if (command === 'backup') return makeBackup(config, resolve(folder));
  if (command === 'restore') return restoreBackup(config, resolve(folder));
  throw new ConfigError(usage);
};

try {
  await main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = error instanceof ConfigError ? 78 : 1;
}
