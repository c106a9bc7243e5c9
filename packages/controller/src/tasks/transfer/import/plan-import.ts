import { createHash, randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { exportSchema, type ImportPlan, secretSlotsIn } from '@rushhour/contract';
import { ArchiveError } from '../../../assets/archives/archive-error.ts';
import type { ArchiveSource } from '../../../assets/archives/archive-source.ts';
import type { Caller } from '../../../caller.ts';
import { ApiError, type Issue, invalid, orNotFound } from '../../../errors.ts';
import type { Upload } from '../../../handler.ts';
import type { Staged } from '../../../store/blobs/blobs.ts';
import type { Store } from '../../../store/store.ts';
import type { SettingsStore } from '../../../store/system/settings.ts';
import { insertTaskImport } from '../../../store/tasks/task-imports.ts';
import { issuesOfUnknown } from '../../check/check-definition.ts';
import { type ArchiveFiles, stagedArchive, storedArchive } from '../archive-files.ts';
import { findPassphrase } from '../export/passphrase.ts';
import { explained } from '../refusals.ts';
import { type CheckedArchive, checkArchive } from './check-archive.ts';
import { importItems, problemsOf } from './import-items.ts';
import { lackingPermissions } from './import-permissions.ts';
import { openedSecrets } from './opened-secrets.ts';
import type { RecordRules } from './record-rules.ts';
import { walkArchive } from './walk-archive.ts';

/** Reads an archive to its last byte and refuses it if its content differs from its manifest. */
const readArchive = async (source: ArchiveSource, maxBytes: number): Promise<CheckedArchive> => {
  const sizes = new Map<string, number>();
  const texts = await walkArchive(source, maxBytes, async (path, open) => {
    sizes.set(path, await verified(path, open()));
  });
  return checkArchive(texts, sizes);
};

/** Content is named by its hash; returns the length. */
const verified = async (path: string, stream: Readable): Promise<number> => {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
  }
  if (path !== `payload/${hash.digest('hex')}`) {
    throw new ArchiveError('BAD_CHECKSUM', path, 'the content is not the one it is named after');
  }
  return size;
};

const lifeMs = 3_600_000;
const maxWarnings = 1000;

interface Deps {
  readonly store: Store;
  readonly settings: SettingsStore;
  readonly files: ArchiveFiles;
  readonly rules: Pick<RecordRules, 'signature'>;
}

const maxBytes = ({ settings }: Deps) => settings.current().limits.uploadBytes;

const planOf = async ({ store, rules }: Deps, archive: CheckedArchive, caller: Caller): Promise<ImportPlan> => {
  assertValidTask(archive);
  const passphrase = findPassphrase(caller);
  if (passphrase && archive.sealed) await openedSecrets(archive, passphrase);
  const items = await importItems(store.read, archive);
  return {
    importId: randomBytes(16).toString('hex'),
    expiresAt: new Date(Date.now() + lifeMs).toISOString(),
    schema: exportSchema,
    task: archive.task as unknown as ImportPlan['task'],
    items,
    warnings: [
      ...archive.plan.warnings.slice(0, maxWarnings),
      ...secretWarnings(archive),
      ...safetyWarnings(archive, items, rules),
    ],
    problems: [...problemsOf(items), ...secretProblems(archive), ...permissionProblems(items, caller)],
  };
};

const keep = async ({ store }: Deps, sha256: string, plan: ImportPlan, caller: Caller) => {
  const { importId: id, expiresAt } = plan;
  return store.change(caller, async (tx) => {
    await insertTaskImport(tx, { id, issuerID: caller.userId, sha256, plan, expiresAt, createdAt: tx.now });
    tx.note({ importId: id, sha256 });
    return { data: plan };
  });
};

/** Stores an archive, checks all of it, and keeps it for an hour together with its import plan. */
export const createImportPlanner = (deps: Deps) => {
  const { files, store } = deps;

  return {
    fromUpload: async ({ stream }: Pick<Upload<unknown>, 'stream'>, caller: Caller) => {
      const staged: Staged = await explained('/file', () => files.blobs.stage(stream, { maxBytes: maxBytes(deps) }));
      try {
        const archive = await explained('/file', async () =>
          readArchive(await stagedArchive(files, staged), maxBytes(deps)),
        );
        const plan = await planOf(deps, archive, caller);
        return await explained('/file', () => files.keep([staged], () => keep(deps, staged.sha256, plan, caller)));
      } finally {
        await files.blobs.discard(staged);
      }
    },
    fromFile: async (fileId: number, caller: Caller) => {
      const file = await orNotFound(files.find(store.read, fileId), 'file', fileId);
      const { sha256 } = file;
      const archive = await explained('/fileId', async () =>
        readArchive(await storedArchive(files, sha256), Math.max(maxBytes(deps), file.size)),
      );
      return keep(deps, sha256, await planOf(deps, archive, caller), caller);
    },
  };
};

/** A test for issues about secrets that are not in the archive. */
const absentSecretsOf = ({ task }: CheckedArchive) => {
  const slots = new Set(secretSlotsIn(task.configuration).map(({ path }) => path));
  return ({ path, code }: Issue) => code === 'REQUIRED' && slots.has(path);
};

const issuesOfTask = ({ task: { thresholds: _, ...definition } }: CheckedArchive) => issuesOfUnknown(definition);

/** A task that could not be stored is refused at once; missing secrets can still be supplied. */
const assertValidTask = (archive: CheckedArchive) => {
  const isAbsentSecret = absentSecretsOf(archive);
  const issues = issuesOfTask(archive).filter((issue) => !isAbsentSecret(issue));
  if (issues.length > 0) throw invalid(issues.map((issue) => ({ ...issue, path: `/task${issue.path}` })));
};

const secretWarnings = ({ sealed }: CheckedArchive) =>
  sealed ? ['the archive holds secrets: give their passphrase in X-Export-Passphrase when you import it'] : [];

/** Signatures that will be created and need a review before they can run. */
const safetyWarnings = (
  { records }: CheckedArchive,
  items: ImportPlan['items'],
  rules: Pick<RecordRules, 'signature'>,
) =>
  items.flatMap(({ kind, sourceId, name, action }) => {
    const found = kind === 'cveSignatures' && action === 'create' ? records.find(kind, sourceId) : undefined;
    const safety = found && safetyIn(rules, found.signature);
    return safety === undefined || safety === 'benign'
      ? []
      : [`signature ${sourceId} "${name}" is ${safety} and arrives disabled`];
  });

/** Undefined for an invalid task. */
const safetyIn = (rules: Pick<RecordRules, 'signature'>, signature: Parameters<RecordRules['signature']>[0]) => {
  try {
    return rules.signature(signature).safety;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
};

const secretProblems = (archive: CheckedArchive) =>
  archive.sealed
    ? []
    : issuesOfTask(archive)
        .filter(absentSecretsOf(archive))
        .map(({ path }) => `the secret at ${path} is not in the archive: say it in \`secrets\``);

const permissionProblems = (items: ImportPlan['items'], caller: Caller) =>
  lackingPermissions(
    items.filter(({ action }) => action === 'create').map(({ kind }) => kind),
    caller,
  ).map((permission) => `making what the archive brings needs the permission ${permission}`);
