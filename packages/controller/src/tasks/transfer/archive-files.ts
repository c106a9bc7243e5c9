import type { Readable } from 'node:stream';
import type { ArchiveSource } from '../../assets/archives/archive-source.ts';
import type { Blobs, Staged } from '../../store/blobs/blobs.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { OpenFile } from './import/record-rules.ts';

/** The part of file storage that imports need. */
export interface ArchiveFiles {
  readonly blobs: Pick<Blobs, 'stage' | 'readStaged' | 'discard' | 'read' | 'size' | 'findPath' | 'remove' | 'exists'>;
  find(executor: Executor, id: number): Promise<(OpenFile & { sha256: string; size: number }) | undefined>;
  /** Makes staged content durable and then runs the transaction `record`; on failure nothing remains. */
  keep<T>(staged: readonly Staged[], record: () => Promise<T>): Promise<T>;
}

/** Stored content opened as an archive, as a local file where one exists. */
export const storedArchive = async ({ blobs }: ArchiveFiles, sha256: string): Promise<ArchiveSource> => {
  const path = await blobs.findPath(sha256);
  if (path !== undefined) return { path };
  const size = await blobs.size(sha256);
  if (size === undefined) throw new Error(`content ${sha256} is gone`);
  return { stream: (await blobs.read(sha256)) as Readable, size };
};

export const stagedArchive = async ({ blobs }: ArchiveFiles, staged: Staged): Promise<ArchiveSource> => ({
  stream: await blobs.readStaged(staged),
  size: staged.size,
});
