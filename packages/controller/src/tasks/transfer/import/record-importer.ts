import type { Readable } from 'node:stream';
import type { Staged } from '../../../store/blobs/blobs.ts';
import type { Change } from '../../../store/engine/change.ts';
import type { Secrets } from '../../../store/engine/secrets.ts';
import type { PartsOf } from '../export/record-exporter.ts';
import type { RecordKind } from '../reference.ts';
import type { FindFile, RecordRules } from './record-rules.ts';

/** The context of an import. */
export interface ImportContext {
  readonly rules: RecordRules;
  readonly secrets: Secrets;
  /** Opened secrets of the archive, by source id. */
  readonly tunnelSecrets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly privateKeys: Readonly<Record<string, string>>;
  /** Content extracted from the archive. */
  contentAt(payloadPath: string): Staged;
  open(content: Staged): Promise<Readable>;
  /** By source id. */
  readonly findFile: FindFile;
  readonly signal: AbortSignal;
}

/** Inserts a valid record; ids in `parts` are local. Returns its id. */
export type InsertRecord<Kind extends RecordKind> = (tx: Change, name: string, parts: PartsOf<Kind>) => Promise<number>;

/** The slow part of importing a record: reading and checking. Refuses it with pointers into its parts. */
export type RecordImporter<Kind extends RecordKind> = (
  parts: PartsOf<Kind>,
  context: ImportContext,
  sourceId: number,
) => Promise<InsertRecord<Kind>>;
