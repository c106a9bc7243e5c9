import type { TaskExportPlan } from '@rushhour/contract';
import type { Executor } from '../../../store/engine/database.ts';
import type { RecordKind, Reference } from '../reference.ts';

type Item<Kind extends RecordKind> = TaskExportPlan['dependencies'][Kind][number];

/** The content of a record in a plan, without id and fingerprint. */
export type PartsOf<Kind extends RecordKind> = Omit<Item<Kind>, 'sourceId' | 'fingerprint'>;
export type Parts = { [Kind in RecordKind]: PartsOf<Kind> }[RecordKind];

/** Why a record used by a task cannot be exported. */
export interface NotExportable {
  readonly absent: string;
}

/** Other records of the same archive in their original form. */
export interface RecordLookup {
  find<Kind extends RecordKind>(kind: Kind, sourceId: number): PartsOf<Kind> | undefined;
}

/** Exports one kind of record and finds its matches in another controller. */
export interface RecordExporter<Kind extends RecordKind> {
  read(executor: Executor, id: number): Promise<PartsOf<Kind> | NotExportable | undefined>;
  nameOf(parts: PartsOf<Kind>): string;
  references(parts: PartsOf<Kind>): Reference[];
  /** The members in which two records must agree to be the same for a task. References are replaced by fingerprints. */
  identityOf(parts: PartsOf<Kind>): unknown;
  /** Possible matches in this controller that the database can find. */
  findMatches(executor: Executor, parts: PartsOf<Kind>, archive: RecordLookup): Promise<number[]>;
}

export const isNotExportable = (found: object): found is NotExportable => 'absent' in found;
