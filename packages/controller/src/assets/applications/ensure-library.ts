import { Readable } from 'node:stream';
import { applications, removeMembers } from '../../store/assets/applications.ts';
import { builtinCaptures, type FileRow } from '../../store/assets/files.ts';
import type { Digests } from '../../store/blobs/blobs.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import { dropLinks, referencesTo } from '../../store/engine/links.ts';
import type { Store } from '../../store/store.ts';
import { type ApplicationFiles, captureFacts } from './application-files.ts';
import type { LibraryRecords } from './library/library-records.ts';
import { complete, defaults } from './stored-application.ts';

/** Of the records in `library/`; a test says what it must be. */
export const libraryVersion = '8850b1298b46';

const captureName = `application-library-${libraryVersion}.pcap`;
const origin = { userId: null, address: '', requestId: 'start', operation: 'applications.builtin' };
const allOf = (source: 'user' | 'builtin') =>
  ({ key: 'id', order: 'asc', limit: 100_000, offset: 0, isLight: true, filters: { source } }) as const;

interface Deps {
  readonly store: Store;
  readonly files: ApplicationFiles;
}

/** Ids of the applications of the library, by name. */
export const libraryIds = async (executor: Executor): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await applications.page(executor, allOf('builtin'));
  return new Map(rows.map(({ name, id }) => [name.replace(suffix, ''), id]));
};

/** The end of a name that a user's application had first. */
const suffix = ' (built-in)';

/** Stores the applications of the library, unless those of this release are there. Answers whether anything changed. */
export const ensureLibrary = async ({ store, files }: Deps): Promise<boolean> => {
  if ((await builtinCaptures(store.read)).some(({ name }) => name === captureName)) return false;
  // Only the first start of a release needs them.
  const { libraryRecords } = await import('./library/library-records.ts');
  const records = libraryRecords();
  const staged = await files.blobs.stage(Readable.from([Buffer.from(records.capture)]));
  await files.keep([staged], () =>
    store.change(origin, async (tx) => {
      const before = await builtinCaptures(tx);
      if (before.some(({ name }) => name === captureName)) return;
      await write(tx, records, { files, staged });
      await removeUnused(tx, files, before);
    }),
  );
  return true;
};

interface Content {
  readonly files: ApplicationFiles;
  readonly staged: Digests & { size: number };
}

const write = async (tx: Change, records: LibraryRecords, { files, staged }: Content) => {
  const facts = captureFacts({ name: captureName, source: 'builtin', tags: 'library', format: 'pcap' });
  const pcapFileId = await files.insert(tx, staged, facts);
  const present = await libraryIds(tx);
  const { rows: own } = await applications.page(tx, allOf('user'));
  const taken = new Set(own.map(({ name }) => name));
  for (const { parameters, sessions, ...record } of records.applications) {
    const name = taken.has(record.name) ? `${record.name}${suffix}` : record.name;
    const columns = { ...defaults, ...record, name, pcapFileId, trimmedPcapFileId: null, pcapMd5: staged.md5 };
    const known = present.get(record.name);
    if (known !== undefined) await applications.update(tx, known, columns);
    const id = known ?? (await applications.insert(tx, { ...columns, source: 'builtin' }));
    await complete(tx, id, { parameters, sessions });
  }
  const names = new Set(records.applications.map(({ name }) => name));
  await removeObsolete(
    tx,
    [...present].filter(([name]) => !names.has(name)).map(([, id]) => id),
  );
};

/** Applications that the library no longer has; those in use stay, as they were, for their tasks. */
const removeObsolete = async (tx: Change, ids: readonly number[]) => {
  for (const id of ids) {
    if ((await referencesTo(tx, 'application', [id], 1)).length > 0) continue;
    await removeMembers(tx, [id]);
    await applications.remove(tx, [id]);
    await dropLinks(tx, 'application', [id]);
  }
};

const removeUnused = async (tx: Change, files: ApplicationFiles, captures: readonly FileRow[]) => {
  for (const capture of captures)
    if ((await referencesTo(tx, 'file', [capture.id], 1)).length === 0) await files.remove(tx, [capture]);
};
