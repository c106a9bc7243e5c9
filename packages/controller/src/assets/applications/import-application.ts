import type { ImportDocument } from '@rushhour/contract';
import type { Caller } from '../../caller.ts';
import { type Issue, invalid } from '../../errors.ts';
import { applications, dictionariesNamed, findNamed } from '../../store/assets/applications.ts';
import { filesWith } from '../../store/assets/files.ts';
import type { Staged } from '../../store/blobs/blobs.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { Store } from '../../store/store.ts';
import { type ApplicationFiles, captureFacts } from './application-files.ts';
import { checkPlayable, explained } from './check-application.ts';
import { dictionariesOf, type Parameter, parameterOf } from './parameter.ts';
import { complete, defaults, plainMembers } from './stored-application.ts';

export interface ImportDeps {
  readonly store: Store;
  readonly files: ApplicationFiles;
}

interface Import {
  readonly document: ImportDocument;
  /** The capture, where it came along. */
  readonly pcap: Staged | undefined;
}

/** Stores an application and, if it is new, its capture; a dry run only reports what would be done. */
export const importApplication = async ({ store, files }: ImportDeps, { document, pcap }: Import, caller: Caller) => {
  const { application, manifest, dryRun = false, onConflict = 'rename' } = document;
  const present = await findPresent(store.read, manifest.pcap.sha256);
  const { open, md5 } = await contentOf(files, store.read, { pcap, present });
  const parameters = await withOwnDictionaries(store.read, document, caller.userId);
  const draft = { ...defaults, ...plainMembers(application) };
  const playable = { mode: draft.mode ?? defaults.mode, clientIp: draft.clientIp ?? '', parameters };
  const around = { read: store.read, open, signal: caller.signal };
  const { sessions, measured, format } = await checkPlayable({ ...playable, sessions: application.sessions }, around);
  const target = await targetFor(store.read, application.name, onConflict);
  if (dryRun || target.status === 'skipped') return { data: { ids: [], report: [reportOf(target)] } };
  const record = () =>
    store.change(caller, async (tx) => {
      const { id: existing, ...present } = await targetFor(tx, application.name, onConflict);
      const { name, status } = present;
      const report = [reportOf(present)];
      if (status === 'skipped') return { data: { ids: [], report } };
      const pcapFileId =
        (await findPresent(tx, manifest.pcap.sha256)) ?? (await insertCapture(tx, files, { document, pcap }, format));
      const columns = { ...draft, name, pcapFileId, trimmedPcapFileId: null, pcapMd5: md5, ...measured };
      if (existing !== undefined) await applications.update(tx, existing, columns);
      const id = existing ?? (await applications.insert(tx, columns as never));
      await complete(tx, id, { parameters, sessions });
      return { data: { ids: [id], report } };
    });
  return explained(() => (pcap ? files.keep([pcap], record) : record()));
};

interface Report {
  readonly name: string;
  readonly status: Status;
  readonly reason: string;
}

const reportOf = ({ name, status, reason }: Report) => ({ name, status, reason });

type Status = 'created' | 'renamed' | 'replaced' | 'skipped';

/** The name of the imported application, and the existing one it replaces. */
const targetFor = async (executor: Executor, name: string, onConflict: 'rename' | 'skip' | 'replace') => {
  const id = await findNamed(executor, name);
  const answer = (status: Status, reason: string, free = name) => ({ name: free, status, reason, id: undefined });
  if (id === undefined) return answer('created', '');
  const taken = `application ${id} has the name "${name}"`;
  if (onConflict === 'skip') return answer('skipped', taken);
  const isOwn = (await applications.find(executor, id))?.source !== 'builtin';
  if (onConflict === 'replace' && isOwn) return { ...answer('replaced', taken), id };
  for (let number = 2; ; number++) {
    const free = `${name.slice(0, 118)} (${number})`;
    if ((await findNamed(executor, free)) === undefined) return answer('renamed', taken, free);
  }
};

const findPresent = async (executor: Executor, sha256: string) =>
  (await filesWith(executor, sha256)).find(({ category }) => category === 'pcap')?.id;

/** The uploaded capture, or the one that is already stored. */
const contentOf = async (
  files: ApplicationFiles,
  read: Executor,
  { pcap, present }: { pcap: Staged | undefined; present: number | undefined },
) => {
  if (pcap) return { md5: pcap.md5, open: () => files.blobs.readStaged(pcap) };
  const file = present === undefined ? undefined : await files.find(read, present);
  if (file) return { md5: file.md5, open: file.open };
  const message = 'the capture is neither in the archive nor stored here';
  throw invalid([{ path: '/manifest/pcap', code: 'PCAP_MISSING', message }], 'PCAP_MISSING');
};

const insertCapture = (
  tx: Change,
  files: ApplicationFiles,
  { document: { manifest }, pcap }: Import,
  format: string,
) => {
  if (pcap === undefined) {
    const message = 'the capture was deleted meanwhile';
    throw invalid([{ path: '/manifest/pcap', code: 'PCAP_MISSING', message }], 'PCAP_MISSING');
  }
  const name = manifest.pcap.name.replace(/[^\P{C}]|[/\\]/gu, '_').slice(0, 255) || 'imported.pcap';
  return files.insert(tx, pcap, captureFacts({ name, source: 'import', format }));
};

/** Dictionary ids are those of the exporting controller, so dictionaries are looked up by name. */
const withOwnDictionaries = async (read: Executor, { application, manifest }: ImportDocument, userId: number) => {
  const parameters: Parameter[] = (application.parameters ?? []).map((draft) => {
    const { id: _, ...parameter } = parameterOf(draft);
    return parameter;
  });
  const issues: Issue[] = [];
  for (const { index, dictionaryId, column } of dictionariesOf(parameters)) {
    const name = manifest.dictionaries.find(({ id }) => id === dictionaryId)?.name;
    const [own] = name === undefined ? [] : await dictionariesNamed(read, name, userId);
    const path = `/application/parameters/${index}/defaultValue`;
    const message = `there is no dictionary "${name ?? dictionaryId}" here`;
    if (own === undefined) issues.push({ path, code: 'DICTIONARY_MISSING', message });
    parameters[index] = { ...(parameters[index] as Parameter), defaultValue: `dict/${own}/${column}` };
  }
  if (issues.length > 0) throw invalid(issues, 'DICTIONARY_MISSING');
  return parameters;
};
