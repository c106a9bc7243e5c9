import { type ApplicationManifest, applicationSchema, type PortableApplication } from '@rushhour/contract';
import { fingerprintOf } from '../../canonical-json.ts';
import { dictionaryNames } from '../../store/assets/applications.ts';
import type { FileRow } from '../../store/assets/files.ts';
import type { Executor } from '../../store/engine/database.ts';
import { dictionariesOf } from './parameter.ts';
import { type FullApplication, plainMembers, withoutOwner } from './stored-application.ts';

export const portableOf = (application: FullApplication): PortableApplication =>
  ({
    ...plainMembers(application as object),
    parameters: application.parameters.map(withoutOwner),
    sessions: application.sessions.map(({ sessionIndex, name }) => ({ sessionIndex, name })),
  }) as PortableApplication;

export const manifestOf = async (
  read: Executor,
  application: PortableApplication,
  file: FileRow,
  includesPcap: boolean,
): Promise<ApplicationManifest> => {
  const used = dictionariesOf((application.parameters ?? []) as { source: string; defaultValue: string }[]);
  const names = await dictionaryNames(
    read,
    used.map(({ dictionaryId }) => dictionaryId),
  );
  const { name, size, md5, sha256, original_sha256 } = file;
  return {
    schema: applicationSchema,
    application: { name: application.name, fingerprint: fingerprintOf(application) },
    pcap: { path: includesPcap ? `pcap/${sha256}.pcap` : '', name, size, md5, sha256, original_sha256 },
    dictionaries: [...names].map(([id, name]) => ({ id, name })),
  };
};
