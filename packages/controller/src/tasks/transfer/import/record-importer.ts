import type { Readable } from 'node:stream';
import type { Staged } from '../../../store/blobs/blobs.ts';
import type { Change } from '../../../store/engine/change.ts';
import type { Secrets } from '../../../store/engine/secrets.ts';
import type { PartsOf } from '../export/record-exporter.ts';
import type { RecordKind } from '../reference.ts';
import type { FindFile, RecordRules } from './record-rules.ts';

/** What records need on their way in. */
export interface ImportContext {
  readonly rules: RecordRules;
  readonly secrets: Secrets;
  /** Secrets that came with the archive and were opened, by source id. */
  readonly tunnelSecrets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly privateKeys: Readonly<Record<string, string>>;
  /** A content of the archive that was taken out of it. */
  contentAt(payloadPath: string): Staged;
  open(content: Staged): Promise<Readable>;
  /** By the id it had where it comes from. */
  readonly findFile: FindFile;
  readonly signal: AbortSignal;
}

/** Writes a record that was found sound; ids in `parts` are those of this controller. Answers its id. */
export type InsertRecord<Kind extends RecordKind> = (tx: Change, name: string, parts: PartsOf<Kind>) => Promise<number>;

/** Everything slow about a new record: reading, checking. Refuses it with pointers into its parts. */
export type RecordImporter<Kind extends RecordKind> = (
  parts: PartsOf<Kind>,
  context: ImportContext,
  sourceId: number,
) => Promise<InsertRecord<Kind>>;
