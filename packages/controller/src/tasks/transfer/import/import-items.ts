import type { ImportPlan, TaskExportPlan } from '@rushhour/contract';
import type { Executor } from '../../../store/engine/database.ts';
import { createGatherer, type Gathered, isMissing } from '../export/gather.ts';
import { needsOf } from '../export/portable-task.ts';
import type { PartsOf } from '../export/record-exporter.ts';
import { exporterOf } from '../export/record-exporters.ts';
import type { ArchiveRecord } from './archive-records.ts';
import { findCandidates } from './candidates.ts';
import type { CheckedArchive } from './check-archive.ts';

export type ImportItem = ImportPlan['items'][number];

/** The import decision about each record of an archive. */
export const importItems = async (executor: Executor, archive: CheckedArchive): Promise<ImportItem[]> => {
  const around = { executor, archive, gatherer: createGatherer(executor), shown: shownCertificates(archive) };
  const items: ImportItem[] = [];
  for (const record of archive.records.all) items.push(await itemOf(around, record));
  return [...items, ...archive.plan.missing.map(missingItem)];
};

const missingItem = ({ kind, sourceId }: TaskExportPlan['missing'][number]): ImportItem => ({
  kind: kind as ImportItem['kind'],
  sourceId,
  name: '',
  fingerprint: '',
  action: 'missing',
  candidates: [],
});

interface Around {
  readonly executor: Executor;
  readonly archive: CheckedArchive;
  readonly gatherer: ReturnType<typeof createGatherer>;
  readonly shown: ReadonlySet<number>;
}

/** Certificates that the task presents; it needs their private keys. */
const shownCertificates = ({ task }: CheckedArchive): ReadonlySet<number> =>
  new Set(
    needsOf(task)
      .references.filter(({ kind, path }) => kind === 'certificates' && !/\/(caCertificateID|ipsecCa)$/.test(path))
      .map(({ id }) => id),
  );

const itemOf = async (around: Around, record: ArchiveRecord): Promise<ImportItem> => {
  const { executor, archive, gatherer, shown } = around;
  const { kind, sourceId, name, fingerprint, parts } = record;
  const about = { kind, sourceId, name, fingerprint };
  const alike: Gathered[] = [];
  for (const id of await exporterOf(kind).findMatches(executor, parts, archive.records)) {
    const found = await gatherer.find({ kind, id });
    if (!isMissing(found)) alike.push(found);
  }
  const equal = alike.filter((found) => found.fingerprint === fingerprint && isEnough(around, record, found));
  const best = equal.find((found) => found.name === name) ?? equal[0];
  if (best)
    return { ...about, action: 'reuse', targetId: best.id, candidates: equal.map(({ id, name }) => ({ id, name })) };
  const candidates = await findCandidates(executor, record);
  const isKeyless = kind === 'certificates' && shown.has(sourceId) && archive.sealed === undefined;
  if (kind === 'agents' || isKeyless) return { ...about, action: 'map', candidates };
  // An address is recorded once: a record with another number of addresses conflicts.
  if (kind === 'macs' && alike.length > 0) {
    return { ...about, action: 'map', candidates: alike.map(({ id, name }) => ({ id, name })) };
  }
  const isEmpty = kind === 'files' && !(parts as unknown as PartsOf<'files'>).payloadIncluded;
  return { ...about, action: isEmpty ? 'missing' : 'create', candidates };
};

/** An equal record without the secrets that the archive brings or the task needs is no match. */
const isEnough = ({ archive, shown }: Around, { kind, sourceId, parts }: ArchiveRecord, found: Gathered) => {
  const isSealed = archive.sealed !== undefined;
  if (kind === 'certificates') {
    const [there, here] = [parts, found.parts] as unknown as PartsOf<'certificates'>[];
    return here?.hasPrivate === true || !(shown.has(sourceId) || (isSealed && there?.hasPrivate));
  }
  if (kind !== 'tunnels') return true;
  const [there, here] = [parts, found.parts] as unknown as PartsOf<'tunnels'>[];
  return here?.tunnel.secretSet === true || !(isSealed && there?.tunnel.secretSet);
};

const nounOf = (kind: string) => (kind === 'dictionaries' ? 'dictionary' : kind.replace(/s$/, ''));

/** What an import still needs from its user. */
export const problemsOf = (items: readonly ImportItem[]): string[] =>
  items.flatMap(({ kind, sourceId, name, action }) => {
    const what = `${nounOf(kind)} ${sourceId}${name === '' ? '' : ` "${name}"`}`;
    if (action === 'map' && kind === 'certificates')
      return [`${what} comes without its key and must be mapped to one here`];
    if (action === 'map') return [`${what} must be mapped to one here`];
    return action === 'missing' ? [`${what} is not in the archive and must be mapped to one here`] : [];
  });
