import { fingerprintOf } from '../../../canonical-json.ts';
import type { Executor } from '../../../store/engine/database.ts';
import { keyOf, type RecordKind, type Reference, withReferences } from '../reference.ts';
import { isNotExportable, type Parts } from './record-exporter.ts';
import { exporterOf, isRecordKind } from './record-exporters.ts';

/** A record of this controller in its exported form. */
export interface Gathered {
  readonly kind: RecordKind;
  readonly id: number;
  readonly name: string;
  readonly parts: Parts;
  readonly references: readonly Reference[];
  readonly fingerprint: string;
}

export interface Missing {
  readonly kind: string;
  readonly reason: string;
  readonly sourceId: number;
}

/** Represents a missing record, so that its absence is part of the fingerprint. */
export const missingMark = 'missing';

/** The fingerprint of a record, with the ids of other records replaced by their fingerprints. */
export const fingerprintOfParts = (
  kind: RecordKind,
  parts: object,
  references: readonly Reference[],
  markOf: (reference: Reference) => string,
) => fingerprintOf([kind, exporterOf(kind).identityOf(withReferences(parts, references, markOf))]);

/** Reads records with everything they need, each once; those in `before` have already been read. */
export const createGatherer = (executor: Executor, before: ReadonlyMap<string, Parts> = new Map()) => {
  const known = new Map<string, Promise<Gathered | Missing>>();

  const read = async (kind: RecordKind, id: number, above: readonly string[]): Promise<Gathered | Missing> => {
    const exporter = exporterOf(kind);
    const found = before.get(keyOf({ kind, id })) ?? (await exporter.read(executor, id));
    if (found === undefined) return { kind, sourceId: id, reason: 'the record does not exist' };
    if (isNotExportable(found)) return { kind, sourceId: id, reason: found.absent };
    const references = exporter.references(found);
    const marks = new Map<string, string>();
    for (const reference of references) {
      const needed = await find(reference, [...above, keyOf({ kind, id })]);
      marks.set(keyOf(reference), isMissing(needed) ? missingMark : needed.fingerprint);
    }
    const markOf = (reference: Reference) => marks.get(keyOf(reference)) ?? missingMark;
    const fingerprint = fingerprintOfParts(kind, found, references, markOf);
    return { kind, id, name: exporter.nameOf(found), parts: found as Parts, references, fingerprint };
  };

  const find = (
    { kind, id }: Pick<Reference, 'kind' | 'id'>,
    above: readonly string[] = [],
  ): Promise<Gathered | Missing> => {
    const key = keyOf({ kind, id });
    if (above.includes(key)) throw new Error(`${key} needs itself`);
    let reading = known.get(key);
    if (reading === undefined) {
      reading = isRecordKind(kind)
        ? read(kind, id, above)
        : Promise.resolve({ kind, sourceId: id, reason: 'this controller has no such collection' });
      known.set(key, reading);
    }
    return reading;
  };

  return {
    find,
    /** All records read so far, ordered by kind and id. */
    all: async () => {
      const results = await Promise.all(known.values());
      const rank = (a: Gathered | Missing, b: Gathered | Missing) =>
        a.kind === b.kind ? idOf(a) - idOf(b) : a.kind < b.kind ? -1 : 1;
      return results.sort(rank);
    },
  };
};

export const isMissing = (found: Gathered | Missing): found is Missing => 'reason' in found;

const idOf = (found: Gathered | Missing) => (isMissing(found) ? found.sourceId : found.id);
