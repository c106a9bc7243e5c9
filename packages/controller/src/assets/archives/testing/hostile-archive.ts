import type { ArchiveErrorCode } from '../archive-error.ts';
import type { OpenOptions } from '../open-archive.ts';

/** An archive that must be refused, and how. */
export interface HostileArchive {
  readonly what: string;
  readonly code: ArchiveErrorCode;
  /** The member that the error must name; left out where the archive itself is at fault. */
  readonly member?: string;
  readonly bytes: () => Buffer | Promise<Buffer>;
  readonly options?: OpenOptions;
}
