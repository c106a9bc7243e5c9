import type { ImportKind, TaskExportPlan } from '@rushhour/contract';
import { withValues } from './json-pointer.ts';

/** Kinds of records that can be in an archive. */
export type DependencyKind = keyof TaskExportPlan['dependencies'];

/** Kinds that this controller can carry; the others are only named. */
export type RecordKind = ImportKind;

/** A place in a record or a task where the id of another record stands. */
export interface Reference {
  /** JSON pointer. */
  readonly path: string;
  readonly kind: DependencyKind;
  readonly id: number;
  /** How an id, or what stands for it, is written there where it is not the bare number. */
  write?(id: number | string): unknown;
}

export const keyOf = ({ kind, id }: { kind: string; id: number }) => `${kind} ${id}`;

/** A copy with something else in the place of every id. */
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
