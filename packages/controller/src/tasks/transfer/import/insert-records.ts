import { type Issue, invalid } from '../../../errors.ts';
import type { Staged } from '../../../store/blobs/blobs.ts';
import type { Change } from '../../../store/engine/change.ts';
import type { Store } from '../../../store/store.ts';
import type { ArchiveFiles } from '../archive-files.ts';
import type { PartsOf } from '../export/record-exporter.ts';
import { keyOf, type RecordKind, type Reference, withReferences } from '../reference.ts';
import type { PlainSecrets } from '../sealed-secrets.ts';
import { isNameTaken } from './candidates.ts';
import type { Decision, Decisions } from './decide.ts';
import { at, collecting } from './issues-at.ts';
import type { ImportContext, InsertRecord } from './record-importer.ts';
import { importerOf, isNewKind, type NewKind } from './record-importers.ts';
import type { OpenFile, RecordRules } from './record-rules.ts';

type Creation = Extract<Decision, { how: 'create' }>;

interface Deps {
  readonly store: Store;
  readonly files: ArchiveFiles;
  readonly rules: RecordRules;
}

interface ImportContent {
  readonly decisions: Decisions;
  /** Content by its path in the archive. */
  readonly staged: ReadonlyMap<string, Staged>;
  readonly secrets: PlainSecrets;
  readonly signal: AbortSignal;
}

/** New records, checked and ready to be written. */
export interface PreparedRecords {
  readonly inserts: ReadonlyMap<string, InsertRecord<RecordKind>>;
  /** Contents that become files; rows of dictionaries do not. */
  readonly fileContents: ReadonlySet<string>;
}

/** The slow part of importing records. */
export const prepareRecords = async (deps: Deps, content: ImportContent): Promise<PreparedRecords> => {
  const context = importContextOf(deps, content);
  const inserts = new Map<string, InsertRecord<RecordKind>>();
  const fileContents = new Set<string>();
  const issues: Issue[] = [];
  for (const [key, decision] of content.decisions) {
    if (decision.how !== 'create' || !isNewKind(decision.kind)) continue;
    const { kind, record } = decision;
    const insert = await collecting(issues, () =>
      at(record.path, () => importerOf(kind)(record.parts, context, record.sourceId)),
    );
    if (insert) inserts.set(key, insert);
    if (kind === 'files') fileContents.add((record.parts as unknown as PartsOf<'files'>).file.sha256);
  }
  if (issues.length > 0) throw invalid(issues.slice(0, 100), issues[0]?.code);
  return { inserts, fileContents };
};

const importContextOf = ({ store, files, rules }: Deps, content: ImportContent): ImportContext => {
  const { decisions, staged, secrets, signal } = content;
  const contentAt = (path: string): Staged => {
    const content = staged.get(path);
    if (content === undefined) throw new Error(`${path} was not taken out of the archive`);
    return content;
  };
  /** From the archive or an existing record. */
  const findFile = async (id: number): Promise<OpenFile | undefined> => {
    const decision = decisions.get(keyOf({ kind: 'files', id }));
    if (decision === undefined) return undefined;
    if (decision.how !== 'create') return files.find(store.read, decision.targetId);
    const content = contentAt((decision.record.parts as unknown as PartsOf<'files'>).payloadPath);
    return { name: decision.name, open: () => files.blobs.readStaged(content) };
  };
  return {
    rules,
    secrets: store.secrets,
    tunnelSecrets: secrets.tunnels,
    privateKeys: secrets.certificates,
    contentAt,
    open: (content) => files.blobs.readStaged(content),
    findFile,
    signal,
  };
};

/** Inserts new records in the order of their dependencies. `idOf` then returns the local ids. */
export const insertRecords = async (tx: Change, decisions: Decisions, { inserts }: PreparedRecords) => {
  const ids = new Map<string, number>();
  const created: Record<string, number[]> = {};
  const idOf = ({ kind, id }: Pick<Reference, 'kind' | 'id'>): number => {
    const known = ids.get(keyOf({ kind, id }));
    if (known === undefined) throw new Error(`${kind} ${id} was not decided about`);
    return known;
  };
  const write = async (key: string, { kind, record }: Creation) => {
    for (const reference of record.references) await settle(keyOf(reference));
    const insert = inserts.get(key);
    if (insert === undefined || !isNewKind(kind)) throw new Error(`${key} was not prepared`);
    const parts = withReferences(record.parts, record.references, idOf);
    const name = await freeName(tx, kind, record.name);
    const id = await at(record.path, () => insert(tx, name, parts));
    created[kind] = [...(created[kind] ?? []), id];
    return id;
  };
  const settle = async (key: string): Promise<void> => {
    const decision = decisions.get(key);
    if (decision === undefined || ids.has(key)) return;
    ids.set(key, decision.how === 'create' ? await write(key, decision) : decision.targetId);
  };
  for (const key of decisions.keys()) await settle(key);
  return { idOf, created };
};

const maxNameLength = 128;
/** Kinds whose names need not be unique. */
const unnumbered: ReadonlySet<NewKind> = new Set(['files', 'dictionaries', 'cveSignatures']);

/** The name, with the first free number appended if it must be unique and is taken. */
const freeName = async (tx: Change, kind: NewKind, name: string): Promise<string> => {
  if (unnumbered.has(kind) || !(await isNameTaken(tx, kind, name))) return name;
  for (let number = 2; ; number++) {
    const suffix = ` (${number})`;
    const free = `${name.slice(0, maxNameLength - suffix.length)}${suffix}`;
    if (!(await isNameTaken(tx, kind, free))) return free;
  }
};
