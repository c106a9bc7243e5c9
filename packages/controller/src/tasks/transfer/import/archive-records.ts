import { importKinds, type TaskExportPlan } from '@rushhour/contract';
import type { Issue } from '../../../errors.ts';
import { fingerprintOfParts, missingMark } from '../export/gather.ts';
import type { Parts, RecordLookup } from '../export/record-exporter.ts';
import { exporterOf } from '../export/record-exporters.ts';
import { keyOf, type RecordKind, type Reference } from '../reference.ts';

/** A record of an archive. */
export interface ArchiveRecord {
  readonly kind: RecordKind;
  readonly sourceId: number;
  readonly name: string;
  readonly fingerprint: string;
  readonly parts: Parts;
  readonly references: readonly Reference[];
  /** JSON pointer to it, with the manifest first. */
  readonly path: string;
}

export interface ArchiveRecords extends RecordLookup {
  readonly all: readonly ArchiveRecord[];
  record(reference: { kind: string; id: number }): ArchiveRecord | undefined;
}

/** The records of a valid manifest. */
export const recordsOf = (plan: TaskExportPlan): ArchiveRecords => {
  const all = importKinds.flatMap((kind) =>
    plan.dependencies[kind].map((item, index): ArchiveRecord => {
      const { sourceId, fingerprint, ...parts } = item;
      const exporter = exporterOf(kind);
      const path = `/manifest/dependencies/${kind}/${index}`;
      const references = exporter.references(parts);
      return { kind, sourceId, fingerprint, parts: parts as Parts, path, references, name: exporter.nameOf(parts) };
    }),
  );
  const byKey = new Map(all.map((record) => [keyOf({ kind: record.kind, id: record.sourceId }), record]));
  const record = (reference: { kind: string; id: number }) => byKey.get(keyOf(reference));
  return { all, record, find: (kind, id) => record({ kind, id })?.parts as never };
};

const maxDepth = 32;

/** Records that are duplicates, depend on themselves or do not match their fingerprints. */
export const recordIssues = (records: ArchiveRecords): Issue[] => {
  const issues: Issue[] = [];
  const computed = new Map<ArchiveRecord, string>();
  const fingerprint = (record: ArchiveRecord, above: readonly ArchiveRecord[]): string => {
    const known = computed.get(record);
    if (known !== undefined) return known;
    if (above.includes(record) || above.length > maxDepth) {
      issues.push({ path: record.path, code: 'CIRCULAR', message: 'depends on itself or on too many other records' });
      return missingMark;
    }
    const markOf = (reference: Reference) => {
      const needed = records.record(reference);
      return needed === undefined ? missingMark : fingerprint(needed, [...above, record]);
    };
    const found = fingerprintOfParts(record.kind, record.parts, record.references, markOf);
    computed.set(record, found);
    return found;
  };
  for (const record of records.all) {
    if (records.record({ kind: record.kind, id: record.sourceId }) !== record) {
      issues.push({ path: `${record.path}/sourceId`, code: 'DUPLICATE', message: 'is used by another record' });
    } else if (fingerprint(record, []) !== record.fingerprint) {
      issues.push({ path: `${record.path}/fingerprint`, code: 'HASH_MISMATCH', message: 'does not match the content' });
    }
  }
  return issues;
};
