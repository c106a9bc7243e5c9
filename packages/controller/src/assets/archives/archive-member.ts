import type { Readable } from 'node:stream';
import type { ArchiveMeter } from './archive-meter.ts';

export type ArchiveFormat = 'zip' | 'tar' | 'tar.gz' | 'gz';

/** A file in an archive. Folders are checked and counted but not handed out. */
export interface ArchiveMember {
  /** Safe relative name with `/` between its parts. */
  readonly name: string;
  /** Names of the inner archives the member lies in, outermost first; empty for a member of the archive itself. */
  readonly within: readonly string[];
  /** What the archive claims, `null` where it claims nothing; the content is checked against it while it is read. */
  readonly declaredSize: number | null;
  readonly isEncrypted: boolean;
  readonly modifiedAt: Date | null;
  /** The content, once, and before the next member is asked for. Fails with an ArchiveError. */
  open(): Readable;
}

export interface Archive {
  readonly format: ArchiveFormat;
  /**
   * Members in the order of the archive. A zip is checked whole before the first one; of a tar only what has been read,
   * so keep nothing until the loop is over, or run `verifyArchive` first.
   */
  members(): AsyncGenerator<ArchiveMember, void, undefined>;
  close(): Promise<void>;
}

/** What the readers of one archive need to know of the whole. */
export interface ReadingContext {
  readonly meter: ArchiveMeter;
  readonly within: readonly string[];
  readonly password: string | undefined;
}
