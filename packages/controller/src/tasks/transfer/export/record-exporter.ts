import type { TaskExportPlan } from '@rushhour/contract';
import type { Executor } from '../../../store/engine/database.ts';
import type { RecordKind, Reference } from '../reference.ts';

type Item<Kind extends RecordKind> = TaskExportPlan['dependencies'][Kind][number];

/** What a plan says of a record, besides its id and fingerprint. */
export type PartsOf<Kind extends RecordKind> = Omit<Item<Kind>, 'sourceId' | 'fingerprint'>;
export type Parts = { [Kind in RecordKind]: PartsOf<Kind> }[RecordKind];

/** Why a record that a task names cannot be taken along. */
export interface NotExportable {
  readonly absent: string;
}

/** Other records of the same archive, as they were there. */
export interface RecordLookup {
  find<Kind extends RecordKind>(kind: Kind, sourceId: number): PartsOf<Kind> | undefined;
}

/** How one kind of record leaves a controller and is found again in another. */
export interface RecordExporter<Kind extends RecordKind> {
  read(executor: Executor, id: number): Promise<PartsOf<Kind> | NotExportable | undefined>;
  nameOf(parts: PartsOf<Kind>): string;
  references(parts: PartsOf<Kind>): Reference[];
  /** What two records must share to mean the same to a task. Fingerprints stand in the place of references. */
  identityOf(parts: PartsOf<Kind>): unknown;
  /** Records here that may be the same, as far as the database can look for them. */
  findMatches(executor: Executor, parts: PartsOf<Kind>, archive: RecordLookup): Promise<number[]>;
}

export const isNotExportable = (found: object): found is NotExportable => 'absent' in found;
