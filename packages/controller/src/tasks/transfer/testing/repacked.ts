import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { TaskExportPlan } from '@rushhour/contract';
import { openArchive } from '../../../assets/archives/open-archive.ts';
import { writeZip } from '../../../assets/archives/write-zip.ts';
import { fingerprintOfParts, missingMark } from '../export/gather.ts';
import { type ArchiveRecord, recordsOf } from '../import/archive-records.ts';

export type Members = Map<string, Buffer>;

export const membersOf = async (bytes: Buffer): Promise<Members> => {
  const archive = await openArchive({ stream: Readable.from([bytes]), size: bytes.length });
  const members: Members = new Map();
  for await (const { name, open } of archive.members()) members.set(name, await buffer(open()));
  await archive.close();
  return members;
};

export const packed = async (members: Members): Promise<Buffer<ArrayBuffer>> => {
  const entries = [...members].map(([name, content]) => ({ name, content, isStored: true }));
  return (await buffer(writeZip(entries))) as Buffer<ArrayBuffer>;
};

/** The archive again after `change` worked on its members. */
export const repacked = async (bytes: Buffer, change: (members: Members) => void) => {
  const members = await membersOf(bytes);
  change(members);
  return packed(members);
};

type Json = Record<string, unknown>;

/** Works on one of the texts. */
export const edit =
  <T = Json>(name: string, change: (json: T) => void) =>
  (members: Members) => {
    const json = JSON.parse((members.get(name) ?? '').toString()) as T;
    change(json);
    members.set(name, Buffer.from(JSON.stringify(json)));
  };

export const editManifest = (change: (plan: TaskExportPlan) => void) => edit<TaskExportPlan>('manifest.json', change);

/** Makes the fingerprints of a manifest true again, so that only what the records say is wrong. */
export const withTrueFingerprints = (plan: TaskExportPlan) => {
  const records = recordsOf(plan);
  const fingerprint = (record: ArchiveRecord): string =>
    fingerprintOfParts(record.kind, record.parts, record.references, (reference) => {
      const needed = records.record(reference);
      return needed === undefined ? missingMark : fingerprint(needed);
    });
  for (const record of records.all) {
    const item = plan.dependencies[record.kind].find(({ sourceId }) => sourceId === record.sourceId);
    Object.assign(item ?? {}, { fingerprint: fingerprint(record) });
  }
};
