import type { ApplicationParameter, FoundReference } from '@rushhour/contract';
import { findDictionaryReference } from '@rushhour/pools';
import { type ApplicationRow, applications, readMembers } from '../../store/assets/applications.ts';
import { files } from '../../store/assets/files.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { PlanApplication, PlanApplications } from '../core/plan-input.ts';
import type { PlanTables } from './dictionaries.ts';

/** The applications of a task and the dictionaries their parameters draw from. */
export const loadApplications = async (
  read: Executor,
  references: readonly FoundReference[],
  tables: PlanTables,
): Promise<PlanApplications> => {
  const played = references.filter(({ kind, path }) => kind === 'application' && path.includes('/applicationParams/'));
  const ids = [...new Set(played.map(({ id }) => id))];
  const rows = ids.length === 0 ? [] : await applications.findMany(read, ids);
  const byId = new Map(await Promise.all(rows.map(async (row) => [row.id, await completed(read, row)] as const)));
  const named = references.filter(({ kind, path }) => kind === 'dictionary' && path.includes('/applicationParams/'));
  const drawn = [...byId.values()].flatMap(({ parameters }) => parameters.flatMap(dictionaryOf));
  const dictionaries = [...named.map(({ id }) => id), ...drawn];
  return { byId, tables: dictionaries.length === 0 ? new Map() : await tables(read, dictionaries) };
};

const dictionaryOf = ({ source, defaultValue }: ApplicationParameter): number[] => {
  const found = source === 'dictionary' ? findDictionaryReference(defaultValue) : undefined;
  return found === undefined ? [] : [found.dictionaryId];
};

const completed = async (read: Executor, row: ApplicationRow): Promise<PlanApplication> => {
  const [members, file] = await Promise.all([
    readMembers(read, row.id),
    files.find(read, row.trimmedPcapFileId ?? row.pcapFileId),
  ]);
  const capture = file && { name: file.name, sha256: file.sha256, size: file.size, isReady: file.state === 'ready' };
  return { ...row, ...members, capture };
};
