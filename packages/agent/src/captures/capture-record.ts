import { readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DumpState } from '@rushhour/protocol';
import { writeDurably } from '../files/durable-file.ts';

/** A dump as it is written down beside its content. */
export interface DumpRecord extends DumpState {
  /** The process that captures or did. */
  readonly pid: number;
}

/** The first part of the file names of a dump. */
const stemOf = ({ runId, epoch, name }: Pick<DumpState, 'runId' | 'epoch' | 'name'>) => `${runId}-${epoch}-${name}`;

type Named = Parameters<typeof stemOf>[0];

/** Where the content of a closed dump is. */
export const contentPath = (folder: string, dump: Named): string => join(folder, `${stemOf(dump)}.pcapng`);

/** Where a part of an open dump is; numbered in the order of time. */
export const partPath = (folder: string, dump: Named, index: number): string =>
  join(folder, `${stemOf(dump)}.part${String(index).padStart(6, '0')}`);

const recordPath = (folder: string, dump: Named) => join(folder, `${stemOf(dump)}.json`);

/** Paths of the parts that are there, oldest first. */
export const partsOf = async (folder: string, dump: Named): Promise<string[]> => {
  const names = await readdir(folder);
  return names
    .filter((name) => name.startsWith(`${stemOf(dump)}.part`))
    .toSorted()
    .map((name) => join(folder, name));
};

export const saveRecord = (folder: string, record: DumpRecord): Promise<void> =>
  writeDurably(recordPath(folder, record), JSON.stringify(record));

export const readRecord = (folder: string, dump: Named): DumpRecord =>
  JSON.parse(readFileSync(recordPath(folder, dump), 'utf8')) as DumpRecord;

/** All records of the folder; what cannot be read is removed, since nobody could tell what it was. */
export const loadRecords = async (folder: string): Promise<DumpRecord[]> => {
  const names = await readdir(folder).catch(() => []);
  const records: DumpRecord[] = [];
  for (const name of names.filter((entry) => entry.endsWith('.json'))) {
    try {
      records.push(JSON.parse(readFileSync(join(folder, name), 'utf8')) as DumpRecord);
    } catch {
      await rm(join(folder, name), { force: true });
    }
  }
  return records;
};

/** Removes everything of a dump. */
export const removeDump = async (folder: string, dump: Named): Promise<void> => {
  // The record goes last: as long as it is there, the rest is found again.
  for (const path of [...(await partsOf(folder, dump)), contentPath(folder, dump), recordPath(folder, dump)]) {
    await rm(path, { force: true });
  }
};
