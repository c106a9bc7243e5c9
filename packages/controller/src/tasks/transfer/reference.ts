import type { ImportKind, TaskExportPlan } from '@rushhour/contract';
import { withValues } from './json-pointer.ts';

/** Kinds of records that can be in an archive. */
export type DependencyKind = keyof TaskExportPlan['dependencies'];

/** Kinds that this controller can export; the others are only listed. */
export type RecordKind = ImportKind;

/** A position in a record or task that holds the id of another record. */
export interface Reference {
  /** JSON pointer. */
  readonly path: string;
  readonly kind: DependencyKind;
  readonly id: number;
  /** How an id or its placeholder is written where it is not a bare number. */
  write?(id: number | string): unknown;
}

export const keyOf = ({ kind, id }: { kind: string; id: number }) => `${kind} ${id}`;

/** A copy with every id replaced. */
export const withReferences = <T>(
  document: T,
  references: readonly Reference[],
  replace: (reference: Reference) => number | string,
): T =>
  withValues(
    document,
    references.map((reference) => {
      const value = replace(reference);
      return [reference.path, reference.write?.(value) ?? value] as const;
    }),
  );
