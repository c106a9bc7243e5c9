import { readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DumpState } from '@rushhour/protocol';
import { writeDurably } from '../files/durable-file.ts';

/** The state of a capture as stored beside its content. */
export interface CaptureRecord extends DumpState {
  /** The process that captures or captured. */
  readonly pid: number;
}

/** Prefix of the file names of a capture. */
const stemOf = ({ runId, epoch, name }: Pick<DumpState, 'runId' | 'epoch' | 'name'>) => `${runId}-${epoch}-${name}`;

type Named = Parameters<typeof stemOf>[0];

/** Path of the content of a closed capture. */
export const contentPath = (folder: string, capture: Named): string => join(folder, `${stemOf(capture)}.pcapng`);

/** Path of a part of an open capture; numbered in order of time. */
export const partPath = (folder: string, capture: Named, index: number): string =>
  join(folder, `${stemOf(capture)}.part${String(index).padStart(6, '0')}`);

const recordPath = (folder: string, capture: Named) => join(folder, `${stemOf(capture)}.json`);

/** Paths of the existing parts, oldest first. */
export const partsOf = async (folder: string, capture: Named): Promise<string[]> => {
  const names = await readdir(folder);
  return names
    .filter((name) => name.startsWith(`${stemOf(capture)}.part`))
    .toSorted()
    .map((name) => join(folder, name));
};

export const saveRecord = (folder: string, record: CaptureRecord): Promise<void> =>
  writeDurably(recordPath(folder, record), JSON.stringify(record));

export const readRecord = (folder: string, capture: Named): CaptureRecord =>
  JSON.parse(readFileSync(recordPath(folder, capture), 'utf8')) as CaptureRecord;

/** All records in the folder; unreadable ones are deleted. */
export const loadRecords = async (folder: string): Promise<CaptureRecord[]> => {
  const names = await readdir(folder).catch(() => []);
  const records: CaptureRecord[] = [];
  for (const name of names.filter((entry) => entry.endsWith('.json'))) {
    try {
      records.push(JSON.parse(readFileSync(join(folder, name), 'utf8')) as CaptureRecord);
    } catch {
      await rm(join(folder, name), { force: true });
    }
  }
  return records;
};

/** Deletes all files of a capture. */
export const removeCapture = async (folder: string, capture: Named): Promise<void> => {
  // The record is deleted last: as long as it exists, the rest is found again.
  for (const path of [...(await partsOf(folder, capture)), contentPath(folder, capture), recordPath(folder, capture)]) {
    await rm(path, { force: true });
  }
};
