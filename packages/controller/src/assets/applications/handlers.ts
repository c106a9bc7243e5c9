import type { AnalyzeBody, api, NewApplication } from '@rushhour/contract';
import type { Caller } from '../../caller.ts';
import { allRecords, assertAllFound, assertFresh, one, pageRequestOf, shownPage } from '../../crud.ts';
import { forbidden, invalid } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import { type ApplicationRow, applications, removeMembers } from '../../store/assets/applications.ts';
import type { Change } from '../../store/engine/change.ts';
import { assertUnused, dropLinks, referencesTo } from '../../store/engine/links.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { type ApplicationFiles, requireCapture } from './application-files.ts';
import { analyzePlayable, checkPlayable, type Playable } from './check-application.ts';
import { exportApplication } from './export.ts';
import { importArchive, importDocument } from './import.ts';
import { parameterOf } from './parameter.ts';
import {
  complete,
  defaults,
  type FullApplication,
  findApplication,
  plainMembers,
  playedFileId,
  withoutOwner,
} from './stored-application.ts';
import { trimStored } from './trim.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
  files: ApplicationFiles;
}

const maxBytes = ({ settings }: Deps) => settings.current().limits.uploadBytes;

const checked = async ({ files, store }: Deps, draft: Playable, fileId: number, signal: AbortSignal) => {
  const file = await requireCapture(files, store.read, fileId);
  const { sessions, measured } = await checkPlayable(draft, { read: store.read, open: file.open, signal });
  return { sessions, ...measured, pcapMd5: file.md5 };
};

const create = async (services: Deps, body: NewApplication, caller: Caller) => {
  const { store, files } = services;
  const source = body.cloneFromId === undefined ? undefined : await findApplication(store.read, body.cloneFromId);
  const { pcapFileId, trimmedPcapFileId } = captureOf(body, source);
  const draft = { ...defaults, ...(source && plainMembers(source as object)), ...given(plainMembers(body)) };
  const playable = { ...draft, ...contentOf(body, source) };
  const file = playedFileId({ pcapFileId, trimmedPcapFileId });
  const { sessions, ...measured } = await checked(services, playable, file, caller.signal);
  return store.change(caller, async (tx) => {
    await requireCapture(files, tx, file);
    const id = await applications.insert(tx, {
      ...draft,
      name: body.name,
      pcapFileId,
      trimmedPcapFileId,
      ...measured,
    });
    await complete(tx, id, { parameters: playable.parameters, sessions });
    return { data: id };
  });
};

/** Deletes trimmed captures with their application if requested and no other record uses them. */
const removeTrimmed = async ({ files }: Deps, tx: Change, rows: readonly ApplicationRow[]) => {
  for (const id of new Set(rows.map(({ trimmedPcapFileId }) => trimmedPcapFileId))) {
    const file = id === null ? undefined : await files.find(tx, id);
    const isFree = file?.source === 'trimmed' && (await referencesTo(tx, 'file', [file.id], 1)).length === 0;
    if (isFree) await files.remove(tx, [file]);
  }
};

const removeApplications =
  (services: Deps): Handlers<typeof api.applications>['removeMany'] =>
  ({ body: { array }, query: { deleteTrimmed = false } }, caller) =>
    services.store.change(caller, async (tx) => {
      const rows = await applications.findMany(tx, array);
      assertAllFound(
        'application',
        array,
        rows.map(({ id }) => id),
      );
      assertOwn(rows);
      await assertUnused(tx, 'application', array);
      await removeMembers(tx, array);
      await applications.remove(tx, array);
      await dropLinks(tx, 'application', array);
      if (deleteTrimmed) await removeTrimmed(services, tx, rows);
      return { data: array };
    });

const analyzeApplication =
  ({ store, files }: Deps): Handlers<typeof api.applications>['analyze'] =>
  async ({ body }, caller) => {
    const stored = body.id === undefined ? undefined : await findApplication(store.read, body.id);
    const { playable, fileId } = analyzed(body, stored);
    const file = await requireCapture(files, store.read, fileId);
    const {
      chosen: _,
      format: __,
      ...data
    } = await analyzePlayable(playable, body.options ?? {}, {
      read: store.read,
      open: file.open,
      signal: caller.signal,
    });
    return { data };
  };

export const applicationHandlers = (services: Deps): Handlers<typeof api.applications> => {
  const { store, files, settings } = services;
  const deps = { store, files };

  return {
    list: ({ query }) => shownPage(applications, store.read, pageRequestOf(query, 'id'), light),
    all: () => allRecords(applications, { store, settings }, light),
    get: async ({ params }) => one(await findApplication(store.read, params.id)),
    create: ({ body }, caller) => create(services, body, caller),
    update: async ({ body: { id, updatedAt, ...patch } }, caller) => {
      const before = await findApplication(store.read, id);
      assertOwn([before]);
      assertFresh('application', before, updatedAt);
      const change = changeOf(before, patch);
      const found = change.playable && (await checked(services, change.playable, change.fileId, caller.signal));
      await store.change(caller, async (tx) => {
        // The change was checked together with the rest of the application.
        assertFresh('application', await findApplication(tx, id), found ? before.updatedAt : updatedAt);
        if (found) await requireCapture(files, tx, change.fileId);
        const { sessions, ...measured } = found ?? {};
        await applications.update(tx, id, { ...plainMembers(patch as object), ...change.files, ...measured });
        await complete(tx, id, { parameters: change.playable?.parameters, sessions });
      });
    },
    removeMany: removeApplications(services),
    analyze: analyzeApplication(services),
    trim: async ({ params, body }, caller) => {
      assertOwn([await findApplication(store.read, params.id)]);
      return trimStored(deps, params.id, body, caller);
    },
    export: ({ params, query }, caller) => exportApplication(deps, params.id, query, caller),
    import: async ({ body, upload }, caller) =>
      upload ? importArchive(deps, upload, maxBytes(services), caller) : importDocument(deps, body as never, caller),
  };
};

const assertOwn = (rows: readonly Pick<ApplicationRow, 'id' | 'source'>[]) => {
  const ids = rows.filter(({ source }) => source === 'builtin').map(({ id }) => id);
  if (ids.length > 0)
    throw forbidden('BUILT_IN', 'applications of the library stay as they are: copy them instead', { ids });
};

const light = (row: ApplicationRow) => ({ ...row, parameters: [], sessions: [] });

const given = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;

/** A clone plays what its model plays, unless another capture is named. */
const captureOf = (body: NewApplication, source: FullApplication | undefined) => {
  if (body.pcapFileId !== undefined && body.pcapFileId !== source?.pcapFileId) {
    return { pcapFileId: body.pcapFileId, trimmedPcapFileId: null };
  }
  if (source) return { pcapFileId: source.pcapFileId, trimmedPcapFileId: source.trimmedPcapFileId };
  throw invalid([{ path: '/pcapFileId', code: 'REQUIRED', message: 'is required, or cloneFromId' }]);
};

const contentOf = (body: Pick<NewApplication, 'parameters' | 'sessions'>, source: FullApplication | undefined) => ({
  parameters:
    body.parameters?.map((draft) => withoutId(parameterOf(draft))) ?? source?.parameters.map(withoutOwner) ?? [],
  sessions: body.sessions ?? source?.sessions,
});

const withoutId = ({ id: _, ...parameter }: ReturnType<typeof parameterOf>) => parameter;

type Patch = { [K in keyof NewApplication]?: NewApplication[K] | null };

/** The effect of an update on the capture: which one is played, and whether everything must be checked again. */
const changeOf = (before: FullApplication, patch: Patch) => {
  const { pcapFileId, parameters, sessions, clientIp, mode } = patch;
  const isOther = pcapFileId !== undefined && pcapFileId !== null && pcapFileId !== before.pcapFileId;
  const fileId = isOther ? pcapFileId : playedFileId(before);
  const files = isOther ? { pcapFileId, trimmedPcapFileId: null } : {};
  const touches = [parameters, sessions, clientIp, mode].some((value) => value !== undefined);
  if (!isOther && !touches) return { fileId, files, playable: undefined };
  const playable: Playable = {
    mode: mode === undefined ? before.mode : (mode ?? defaults.mode),
    clientIp: clientIp === undefined ? before.clientIp : (clientIp ?? ''),
    parameters:
      parameters === undefined
        ? before.parameters.map(({ applicationId: _, ...parameter }) => parameter)
        : (parameters ?? []).map(parameterOf),
    sessions: sessions === undefined ? before.sessions : (sessions ?? undefined),
  };
  return { fileId, files, playable };
};

const analyzed = (body: AnalyzeBody, stored: FullApplication | undefined) => {
  const { pcapFileId, mode, clientIp, options } = body;
  const isOther = pcapFileId !== undefined && pcapFileId !== stored?.pcapFileId;
  const fileId = isOther ? pcapFileId : stored && playedFileId(stored);
  if (fileId === undefined) throw invalid([{ path: '/pcapFileId', code: 'REQUIRED', message: 'is required, or id' }]);
  const playable = {
    mode: mode ?? stored?.mode ?? defaults.mode,
    clientIp: options?.clientIp ?? clientIp ?? stored?.clientIp ?? '',
    ...contentOf(body, stored),
  };
  return { playable, fileId };
};
