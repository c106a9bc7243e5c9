import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '../errors.ts';

const othersBits = 0o077;
/** A folder with one of these was made by a controller, so its permissions may be tightened. */
const ownNames = ['rushhour.db', 'secret.key', 'installation', 'compile-cache', 'files'];

const isOpenToOthers = (path: string) => (lstatSync(path).mode & othersBits) !== 0;

const closeToOthers = (path: string, mode: number) => {
  if (!isOpenToOthers(path)) return;
  try {
    chmodSync(path, mode);
  } catch (cause) {
    throw new StartError(
      `other users can read ${path}, and its permissions cannot be changed: make it mode ${mode.toString(8)}`,
      {
        cause,
      },
    );
  }
  // Some file systems ignore chmod.
  if (isOpenToOthers(path)) throw new StartError(`other users can read ${path}: use a file system with permissions`);
};

/** Makes the data folder if needed, and makes sure that only its owner can enter it and read its files. */
export const prepareDataFolder = (dataDir: string) => {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new StartError(`the data folder ${dataDir} cannot be made: ${(cause as Error).message}`, { cause });
  }
  const names = readdirSync(dataDir);
  const isOwn = names.length === 0 || ownNames.some((name) => names.includes(name));
  if (isOpenToOthers(dataDir) && !isOwn) {
    throw new StartError(
      `the data folder ${dataDir} is open to other users and holds other things: name a folder of its own in ` +
        'RUSHHOUR_DATA_DIR, or make this one mode 700',
    );
  }
  closeToOthers(dataDir, 0o700);
  for (const name of names) {
    const path = join(dataDir, name);
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile()) closeToOthers(path, 0o600);
  }
};

const waitMs = 3000;
const busyCode = 5;

/**
 * Claims the data folder for this process. The claim is a lock of the kernel, so it ends with the process however the
 * process ends. Answers what releases it.
 */
export const lockDataFolder = (dataDir: string): (() => void) => {
  const file = join(dataDir, 'lock');
  const isNew = !existsSync(file);
  // A database without content: SQLite takes and keeps file locks, which Node.js itself cannot.
  const lock = new DatabaseSync(file, { timeout: waitMs });
  try {
    if (isNew) chmodSync(file, 0o600);
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    if ((cause as { errcode?: number }).errcode !== busyCode) {
      throw new StartError(`the data folder ${dataDir} cannot be locked: ${(cause as Error).message}`, { cause });
    }
    throw new StartError(
      `another controller uses the data folder ${dataDir}: stop it, or name another folder in RUSHHOUR_DATA_DIR`,
      { cause },
    );
  }
  return () => lock.close();
};
