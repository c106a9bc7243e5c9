import type { ImportBody, ImportResult } from '@rushhour/contract';
import type { Caller } from '../../../caller.ts';
import { ApiError, notFound } from '../../../errors.ts';
import type { Staged } from '../../../store/blobs/blobs.ts';
import type { Store } from '../../../store/store.ts';
import { findTaskImport, removeTaskImport, type TaskImport } from '../../../store/tasks/task-imports.ts';
import { type ArchiveFiles, storedArchive } from '../archive-files.ts';
import { payloadsOf } from '../export/export-plan.ts';
import { findPassphrase } from '../export/passphrase.ts';
import type { PartsOf } from '../export/record-exporter.ts';
import { explained } from '../refusals.ts';
import { type CheckedArchive, checkArchive } from './check-archive.ts';
import { assertDecided, type Decisions, decide } from './decide.ts';
import { assertMayMake } from './import-permissions.ts';
import { insertRecords, prepareRecords } from './insert-records.ts';
import { openedSecrets } from './opened-secrets.ts';
import type { RecordRules } from './record-rules.ts';
import { settleTask } from './settle-task.ts';
import { assertSameVersions, assertUnchanged, unknownTargets } from './versions.ts';
import { walkArchive } from './walk-archive.ts';

/** The texts of an archive whose content was verified before. */
const reopenArchive = async (files: ArchiveFiles, sha256: string): Promise<CheckedArchive> => {
  const texts = await walkArchive(await storedArchive(files, sha256), Number.MAX_SAFE_INTEGER, async () => {});
  const plan = texts.manifest as CheckedArchive['plan'];
  return checkArchive(texts, payloadsOf(plan.dependencies));
};

/** Paths in the archive of the content of new records. */
const wantedPaths = (decisions: Decisions): Set<string> => {
  const paths = new Set<string>();
  for (const decision of decisions.values()) {
    if (decision.how !== 'create') continue;
    const { kind, parts } = decision.record;
    if (kind === 'files') paths.add((parts as unknown as PartsOf<'files'>).payloadPath);
    if (kind === 'dictionaries') paths.add((parts as unknown as PartsOf<'dictionaries'>).dictionary.rowsPath);
  }
  paths.delete('');
  return paths;
};

/** Extracts the needed content from the archive; the caller discards it. */
const stagePayloads = async (
  files: ArchiveFiles,
  sha256: string,
  decisions: Decisions,
  staged: Map<string, Staged>,
) => {
  const wanted = wantedPaths(decisions);
  if (wanted.size === 0) return;
  await walkArchive(await storedArchive(files, sha256), Number.MAX_SAFE_INTEGER, async (path, open) => {
    if (wanted.has(path)) staged.set(path, await files.blobs.stage(open()));
  });
};

interface Deps {
  readonly store: Store;
  readonly files: ArchiveFiles;
  readonly rules: RecordRules;
  /** Reports that content may no longer be needed. */
  release(sha256: string): void;
}

interface Import {
  readonly waiting: TaskImport;
  readonly archive: CheckedArchive;
  readonly decisions: Decisions;
}

/** Executes an import plan with the user's additions, atomically. */
export const importTask = async (deps: Deps, body: ImportBody, caller: Caller): Promise<ImportResult> => {
  const { store, files } = deps;
  const waiting = await findWaiting(store, body.importId, caller);
  const archive = await reopenArchive(files, waiting.sha256);
  const { decisions, issues } = decide({ archive, items: waiting.plan.items }, body.mapping);
  assertDecided([...issues, ...(await unknownTargets(store.read, decisions))]);
  await assertMayMake(
    store,
    [...decisions.values()].filter(({ how }) => how === 'create').map(({ kind }) => kind),
    caller,
  );
  const staged = new Map<string, Staged>();
  try {
    await explained('/importId', () => stagePayloads(files, waiting.sha256, decisions, staged));
    return await carryOut(deps, { waiting, archive, decisions }, { body, staged, caller });
  } finally {
    for (const content of staged.values()) await files.blobs.discard(content);
  }
};

interface Request {
  readonly body: ImportBody;
  readonly staged: ReadonlyMap<string, Staged>;
  readonly caller: Caller;
}

const carryOut = async (deps: Deps, { waiting, archive, decisions }: Import, { body, staged, caller }: Request) => {
  const { store, files } = deps;
  const secrets = await openedSecrets(archive, findPassphrase(caller));
  const versions = await assertUnchanged(store.read, decisions);
  const arrivals = await prepareRecords(deps, { decisions, staged, secrets, signal: caller.signal });
  const record = () =>
    store.change(caller, async (tx) => {
      await assertSameVersions(tx, versions);
      assertDecided(await unknownTargets(tx, decisions));
      const { idOf, created } = await insertRecords(tx, decisions, arrivals);
      const { id, warnings } = await settleTask(tx, store.secrets, { archive, body, secrets: secrets.task, idOf });
      await removeTaskImport(tx, waiting.id);
      tx.afterCommit(() => deps.release(waiting.sha256));
      return { data: { id, created, warnings } };
    });
  const contents = [...staged.values()].filter(({ sha256 }) => arrivals.fileContents.has(sha256));
  return explained('/importId', () => files.keep(contents, record));
};

/** Imports of other users are hidden. */
const findWaiting = async (store: Store, importId: string, { userId }: Caller): Promise<TaskImport> => {
  const found = await findTaskImport(store.read, importId);
  if (found === undefined || found.issuerID !== userId) {
    throw Object.assign(notFound('import', 0), { message: `import ${importId} not found`, data: { importId } });
  }
  if (found.sha256 === '' || found.expiresAt <= new Date().toISOString()) {
    throw new ApiError('gone', 'IMPORT_EXPIRED', 'this import was not carried out in time: upload the archive again', {
      importId,
    });
  }
  return found;
};
