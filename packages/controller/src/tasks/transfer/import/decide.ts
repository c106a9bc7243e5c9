import { type ImportBody, importKinds } from '@rushhour/contract';
import { type Issue, invalid } from '../../../errors.ts';
import { needsOf } from '../export/portable-task.ts';
import { keyOf, type RecordKind } from '../reference.ts';
import type { ArchiveRecord } from './archive-records.ts';
import type { CheckedArchive } from './check-archive.ts';
import type { ImportItem } from './import-items.ts';

/** The decision about a record that the task needs. */
export type Decision = { readonly kind: RecordKind; readonly sourceId: number; readonly name: string } & (
  | { readonly how: 'create'; readonly record: ArchiveRecord }
  /** `fingerprint` is that of the plan. */
  | { readonly how: 'reuse'; readonly targetId: number; readonly fingerprint: string }
  | { readonly how: 'map'; readonly targetId: number }
);

export type Decisions = ReadonlyMap<string, Decision>;

interface Planned {
  readonly archive: CheckedArchive;
  readonly items: readonly ImportItem[];
}

/** Decides about all records the task needs, directly or indirectly, and reports open decisions. A mapped record needs nothing else. */
export const decide = ({ archive, items }: Planned, mapping: ImportBody['mapping'] = {}) => {
  const byKey = new Map(items.map((item) => [keyOf({ kind: item.kind, id: item.sourceId }), item]));
  const issues = unknownIn(byKey, mapping);
  const decisions = new Map<string, Decision>();
  const open = [...needsOf(archive.task).references, ...needsOf(archive.task).tasks.map(asTask)];
  for (let need = open.shift(); need !== undefined; need = open.shift()) {
    const key = keyOf(need);
    if (decisions.has(key)) continue;
    const decision = decisionFor(byKey.get(key), archive, mapping);
    if (decision === undefined) issues.push(unmapped(need, byKey.get(key)?.name ?? ''));
    else {
      decisions.set(key, decision);
      if (decision.how === 'create') open.push(...decision.record.references);
    }
  }
  return { decisions: decisions as Decisions, issues };
};

const { compare } = new Intl.Collator('en', { numeric: true });

/** Refuses with everything that is missing or superfluous in the mapping, each once and in order. */
export const assertDecided = (issues: readonly Issue[]) => {
  const sorted = [...issues].sort((a, b) => compare(a.path, b.path));
  const distinct = new Map(sorted.map((issue) => [issue.path, issue]));
  if (distinct.size > 0) throw invalid([...distinct.values()], sorted[0]?.code);
};

const asTask = ({ id }: { id: number }) => ({ kind: 'tasks', id });

const unknownIn = (items: ReadonlyMap<string, unknown>, mapping: NonNullable<ImportBody['mapping']>): Issue[] =>
  importKinds.flatMap((kind) =>
    Object.keys(mapping[kind] ?? {})
      .filter((id) => !items.has(keyOf({ kind, id: Number(id) })))
      .map((id) => ({ path: `/mapping/${kind}/${id}`, code: 'UNKNOWN_SOURCE', message: 'is not in the archive' })),
  );

const decisionFor = (
  item: ImportItem | undefined,
  { records }: CheckedArchive,
  mapping: NonNullable<ImportBody['mapping']>,
): Decision | undefined => {
  const kind = importKinds.find((known) => known === item?.kind);
  if (item === undefined || kind === undefined) return undefined;
  const { sourceId, name, fingerprint, action } = item;
  const about = { kind, sourceId, name };
  const mapped = mapping[kind]?.[sourceId];
  if (mapped !== undefined) return { ...about, how: 'map', targetId: mapped };
  if (action === 'reuse' && item.targetId !== undefined) {
    return { ...about, how: 'reuse', targetId: item.targetId, fingerprint };
  }
  const record = records.record({ kind, id: sourceId });
  return action === 'create' && record ? { ...about, how: 'create', record } : undefined;
};

const unmapped = ({ kind, id }: { kind: string; id: number }, name: string): Issue => ({
  path: `/mapping/${kind}/${id}`,
  code: 'UNMAPPED',
  message: `must say which record here stands for ${name === '' ? `number ${id}` : `"${name}"`}`,
});
