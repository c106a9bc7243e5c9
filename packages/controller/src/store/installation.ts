import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../errors.ts';
import type { MarkedStore } from './blobs/blobs.ts';

const unmarked = 'unmarked';

const markFile = (dataDir: string) => join(dataDir, 'installation');

const findMark = (dataDir: string) => {
  const file = markFile(dataDir);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
};

/** Contents are in folders named after the first two digits of their hash. */
const hasContents = (dataDir: string) => {
  const folder = join(dataDir, 'files');
  return existsSync(folder) && readdirSync(folder).some((name) => /^[0-9a-f]{2}$/.test(name));
};

/** The data folder as a store that belongs to one installation. */
export const markedFolder = (dataDir: string): MarkedStore => ({
  name: `the data folder ${dataDir}`,
  readMark: async () => findMark(dataDir),
  writeMark: async (installation) => {
    const draft = `${markFile(dataDir)}.${randomUUID()}`;
    try {
      writeFileSync(draft, `${installation}\n`, { mode: 0o600, flag: 'wx', flush: true });
      if (existsSync(markFile(dataDir))) renameSync(draft, markFile(dataDir));
      else linkSync(draft, markFile(dataDir));
    } finally {
      rmSync(draft, { force: true });
    }
  },
  isEmpty: async () => !hasContents(dataDir),
});

export interface Binding {
  /** The id in the database. */
  readonly installation: string;
  /** True until the first start has created the first user. */
  readonly isFresh: boolean;
  /** `RUSHHOUR_ADOPT_DATA`: the mark of a store that this installation may take over. */
  readonly adopt: string | undefined;
}

const refusal = ({ name }: MarkedStore, holder: string, database: string, adopt: string) =>
  new StartError(
    `${name} ${holder}, but the database ${database}: start with the database that belongs to it, or set ` +
      `RUSHHOUR_ADOPT_DATA=${adopt} once to use it with this database (files that the database does not know are moved ` +
      'to a trash and deleted after some days)',
  );

/** Binds a store to the installation of the database; refuses one that belongs to another. */
export const bindStore = async (store: MarkedStore, { installation, isFresh, adopt }: Binding) => {
  const mark = await store.readMark();
  if (mark === installation) return;
  if (mark !== undefined && mark !== adopt) {
    throw refusal(store, `belongs to installation ${mark}`, `belongs to installation ${installation}`, mark);
  }
  // Builds before this check left no mark; their database has users.
  if (mark === undefined && isFresh && adopt !== unmarked && !(await store.isEmpty())) {
    throw refusal(store, 'holds files of an installation', 'is new', unmarked);
  }
  await store.writeMark(installation);
};

/** Refuses to create a database in a folder whose database is gone, before anything is written. */
export const assertDatabasePresent = (dataDir: string, databaseFile: string, adopt: string | undefined) => {
  const mark = findMark(dataDir);
  const isPresent = existsSync(databaseFile) && statSync(databaseFile).size > 0;
  if (mark === undefined || isPresent || mark === adopt) return;
  throw refusal(markedFolder(dataDir), `belongs to installation ${mark}`, `${databaseFile} is missing or empty`, mark);
};
