import type { ApplicationParameter, NewApplication } from '@rushhour/contract';
import { invalid, orNotFound } from '../../errors.ts';
import {
  type ApplicationRow,
  applications,
  readMembers,
  replaceParameters,
  replaceSessions,
} from '../../store/assets/applications.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import { setLinks } from '../../store/engine/links.ts';
import type { SessionContent } from '../../store/tables/assets.ts';
import { dictionaryIssues } from './check-application.ts';
import { dictionariesOf, type Parameter } from './parameter.ts';

export const findApplication = async (executor: Executor, id: number) => {
  const found = await orNotFound(applications.find(executor, id), 'application', id);
  return { ...found, ...(await readMembers(executor, id)) };
};
export type FullApplication = Awaited<ReturnType<typeof findApplication>>;

/** The file whose steps the mappings refer to. */
export const playedFileId = ({
  pcapFileId,
  trimmedPcapFileId,
}: Pick<ApplicationRow, 'pcapFileId' | 'trimmedPcapFileId'>) => trimmedPcapFileId ?? pcapFileId;

/** Members that are stored as given. */
export const plainMembers = (draft: Partial<NewApplication>) => ({
  name: draft.name,
  description: draft.description,
  tags: draft.tags,
  mode: draft.mode,
  defaultSpeedMode: draft.defaultSpeedMode,
  clientIp: draft.clientIp,
  allowPerSessionSpeed: draft.allowPerSessionSpeed,
  followTimestamps: draft.followTimestamps,
  lockParameters: draft.lockParameters,
  loop: draft.loop,
  defaultTimeout: draft.defaultTimeout,
  defaultUsers: draft.defaultUsers,
  timingGapThresholdMs: draft.timingGapThresholdMs,
});

export const defaults = {
  description: '',
  tags: '',
  mode: 'stateful' as const,
  defaultSpeedMode: 'original' as const,
  clientIp: '',
  allowPerSessionSpeed: false,
  followTimestamps: true,
  lockParameters: false,
  loop: false,
  defaultTimeout: 5000,
  defaultUsers: 1,
  timingGapThresholdMs: 500,
};

interface Content {
  readonly parameters?: readonly Parameter[] | undefined;
  readonly sessions?: readonly SessionContent[] | undefined;
}

/** Writes the parameters and sessions of an application and its links. */
export const complete = async (tx: Change, id: number, { parameters, sessions }: Content) => {
  if (sessions) await replaceSessions(tx, id, sessions);
  if (parameters) await replaceParameters(tx, id, parameters);
  const { name, pcapFileId, trimmedPcapFileId, parameters: stored } = await findApplication(tx, id);
  await assertDictionaries(tx, stored);
  await setLinks(tx, { kind: 'application', id, name }, [
    { kind: 'file', id: pcapFileId },
    ...(trimmedPcapFileId === null ? [] : [{ kind: 'file' as const, id: trimmedPcapFileId }]),
    ...dictionariesOf(stored).map(({ dictionaryId }) => ({ kind: 'dictionary' as const, id: dictionaryId })),
  ]);
};

/** The dictionaries existed when the parameters were checked and may have been deleted since. */
const assertDictionaries = async (tx: Change, parameters: readonly ApplicationParameter[]) => {
  const issues = await dictionaryIssues(parameters, tx);
  if (issues.length > 0) throw invalid(issues, 'DICTIONARY_UNKNOWN');
};

/** A stored parameter as a draft of another application. */
export const withoutOwner = ({ id: _id, applicationId: _owner, ...parameter }: ApplicationParameter): Parameter =>
  parameter;
