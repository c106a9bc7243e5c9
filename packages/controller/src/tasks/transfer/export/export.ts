import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ExportOptions, TaskExportPlan } from '@rushhour/contract';
import { writeZip, type ZipEntryInput } from '../../../assets/archives/write-zip.ts';
import type { Caller } from '../../../caller.ts';
import { ApiError, conflict, orNotFound, tooMany } from '../../../errors.ts';
import type { Download } from '../../../handler.ts';
import { assertPermission } from '../../../people/assert-permission.ts';
import { openCertificate } from '../../../store/assets/certificates.ts';
import { openParams, tunnels } from '../../../store/assets/tunnels.ts';
import type { Store } from '../../../store/store.ts';
import { findTask, openedConfiguration } from '../../../store/tasks/tasks.ts';
import { valueAt, withValues } from '../json-pointer.ts';
import { type PlainSecrets, sealSecrets } from '../sealed-secrets.ts';
import { keptRows } from './dictionary-exporter.ts';
import { gatherTask, planOf } from './export-plan.ts';
import { openRows } from './kinds/dictionary-rows.ts';
import { requirePassphrase } from './passphrase.ts';
import type { PortableTask } from './portable-task.ts';

/** A stored task in its public form. */
interface SourceTask {
  readonly id: number;
  /** Without its secrets. */
  readonly task: PortableTask;
  readonly secretCount: number;
  /** In clear, by JSON pointer into the task. */
  openSecrets(): Record<string, string>;
}

const readSourceTask = async (store: Store, id: number): Promise<SourceTask | undefined> => {
  const stored = await findTask(store.read, id);
  if (stored === undefined) return undefined;
  const { comment, accessPlane, controlPlane, configuration, dumps, thresholds } = stored;
  const whole = { comment, accessPlane, controlPlane, configuration, dumps, thresholds };
  const paths = Object.keys(stored.configurationSecrets);
  return {
    id,
    task: withValues(
      whole,
      paths.map((path) => [path, undefined] as const),
    ),
    secretCount: paths.length,
    openSecrets: () => {
      const opened = { configuration: openedConfiguration(stored, store.secrets) };
      return Object.fromEntries(paths.map((path) => [path, String(valueAt(opened, path))]));
    },
  };
};

const maxAtOnce = 2;
const retryAfterSec = 5;

/** At most two concurrent exports per user. `take` returns a function that releases the slot. */
const createExportQuota = () => {
  const running = new Map<number, number>();
  return {
    take: (userId: number): (() => void) => {
      const count = running.get(userId) ?? 0;
      if (count >= maxAtOnce)
        throw tooMany('TOO_MANY_EXPORTS', `more than ${maxAtOnce} exports at once`, retryAfterSec);
      running.set(userId, count + 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        const left = (running.get(userId) ?? 1) - 1;
        if (left === 0) running.delete(userId);
        else running.set(userId, left);
      };
    },
  };
};

/** The part of file storage that exports need. */
export interface ExportFiles {
  readonly blobs: { read(sha256: string): Promise<Readable> };
}

interface Deps {
  readonly store: Store;
  readonly files: ExportFiles;
}

interface ExportQuery extends ExportOptions {
  readonly secrets?: 'omit' | 'encrypted';
  readonly strict?: boolean;
}

const optionsOf = ({ includeFilePayloads = true, includeMalwarePayloads = false }: ExportOptions) => ({
  includeFilePayloads,
  includeMalwarePayloads,
});

/** The content of an export. An unknown task is 500: the interface document requires it. */
export const planExport = async ({ store }: Deps, id: number, query: ExportOptions, caller: Caller) => {
  await assertMayTakeSamples(store, query, caller);
  const source = await readSourceTask(store, id);
  if (source === undefined) throw new ApiError('internal', 'TASK_NOT_FOUND', `task ${id} not found`, { id });
  return planOf(source, await gatherTask(store.read, source.task), optionsOf(query));
};

export const createExport = ({ store, files }: Deps) => {
  const quota = createExportQuota();

  const pack = async (source: SourceTask, query: ExportQuery, caller: Caller): Promise<Download> => {
    const gathered = await gatherTask(store.read, source.task);
    const isSealed = query.secrets === 'encrypted';
    if (isSealed) await assertPermission(store, 'tasks.exportSecrets', caller);
    const plan = planOf(source, gathered, optionsOf(query), isSealed);
    if (plan.dependencies.files.some(({ payloadPath }) => payloadPath !== ''))
      await assertPermission(store, 'files.download', caller);
    if (query.strict && plan.missing.length > 0) {
      throw conflict('MISSING_DEPENDENCIES', `${plan.missing.length} records of the task are missing`, {
        missing: plan.missing,
      });
    }
    const manifest = JSON.stringify(plan, null, 1);
    const task = JSON.stringify(source.task, null, 1);
    const sealed = isSealed ? await sealFor(store, { source, plan, bound: manifest + task }, caller) : undefined;
    const texts = { 'manifest.json': manifest, 'task.json': task, ...(sealed && { 'secrets.json': sealed }) };
    // Content is stored uncompressed: compression costs time, and a high ratio would be refused as a bomb.
    const entries: ZipEntryInput[] = [
      ...Object.entries(texts).map(([name, content]) => ({ name, content, isStored: true })),
      ...payloadEntries({ store, files }, plan),
    ];
    return {
      type: 'application/zip',
      body: writeZip(entries),
      headers: {
        etag: `"${hash('sha256', Object.values(texts).join('\0'), 'hex')}"`,
        'content-disposition': `attachment; filename="task-${source.id}.zip"`,
      },
    };
  };

  /** The archive as a stream; its content is read while it is sent. */
  return async (id: number, query: ExportQuery, caller: Caller): Promise<Download> => {
    await assertMayTakeSamples(store, query, caller);
    const source = await orNotFound(readSourceTask(store, id), 'task', id);
    const giveBack = quota.take(caller.userId);
    try {
      const download = await pack(source, query, caller);
      (download.body as Readable).once('close', giveBack);
      return download;
    } catch (error) {
      giveBack();
      throw error;
    }
  };
};

/** Requesting samples needs the permission for samples, whether or not the task uses any. */
const assertMayTakeSamples = async (store: Store, { includeMalwarePayloads }: ExportOptions, caller: Caller) => {
  if (includeMalwarePayloads) await assertPermission(store, 'malware.download', caller);
};

/** Every content once. */
const payloadEntries = ({ store, files }: Deps, { dependencies }: TaskExportPlan): ZipEntryInput[] => {
  const contents = new Map<string, () => Readable | Promise<Readable>>();
  for (const { file, payloadPath } of dependencies.files) {
    if (payloadPath !== '') contents.set(payloadPath, () => files.blobs.read(file.sha256));
  }
  for (const { sourceId: id, dictionary } of dependencies.dictionaries) {
    const { rowsPath } = dictionary;
    const rowCount = keptRows(dictionary);
    if (rowsPath !== '') contents.set(rowsPath, () => openRows(store.read, { id, rowCount }, rowsPath));
  }
  return [...contents]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, content]) => ({ name, content, isStored: true }));
};

interface Sealing {
  readonly source: SourceTask;
  readonly plan: TaskExportPlan;
  readonly bound: string;
}

/** `secrets.json`. Keys of certificates need the permission to read them; the disclosure is audited. */
const sealFor = async (store: Store, { source, plan, bound }: Sealing, caller: Caller) => {
  const passphrase = requirePassphrase(caller);
  const { certificates, tunnels: used } = plan.dependencies;
  const withKey = certificates.filter(({ hasPrivate }) => hasPrivate);
  if (withKey.length > 0) await assertPermission(store, 'certificates.private', caller);
  const secrets: PlainSecrets = { task: source.openSecrets(), tunnels: {}, certificates: {} };
  for (const { sourceId } of used.filter(({ tunnel }) => tunnel.secretSet)) {
    secrets.tunnels[sourceId] = await tunnelSecrets(store, sourceId);
  }
  for (const { sourceId } of withKey) {
    secrets.certificates[sourceId] = (await openCertificate(store.read, store.secrets, sourceId))?.private ?? '';
  }
  await store.change(caller, async (tx) => {
    tx.touch('tasks', source.id);
    for (const { sourceId } of withKey) tx.touch('certificates', sourceId);
    tx.note({ secrets: 'encrypted' });
  });
  return JSON.stringify(await sealSecrets(secrets, passphrase, bound), null, 1);
};

/** The masked members of `params`. */
const tunnelSecrets = async (store: Store, id: number): Promise<Record<string, unknown>> => {
  const tunnel = await tunnels.find(store.read, id);
  if (tunnel === undefined) return {};
  const open = openParams(tunnel, store.secrets);
  return Object.fromEntries(Object.entries(open).filter(([name, value]) => tunnel.params[name] !== value));
};
