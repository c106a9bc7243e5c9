import type { Content } from '../content.ts';
import { createWindow, type PreviewWindow } from './window.ts';

/** What is shown of a file in an archive. */
export interface ArchiveEntry {
  readonly name: string;
  /** What the archive claims; null where it claims nothing. */
  readonly declaredSize: number | null;
  readonly isEncrypted: boolean;
  readonly modifiedAt: Date | null;
}

/** Walks the members of an archive in order without unpacking them; ends early when the loop over it does. */
export type ListArchive = (content: Content) => AsyncIterable<ArchiveEntry>;

export interface ArchiveRow {
  readonly name: string;
  readonly size: number | null;
  readonly isEncrypted: boolean;
  readonly modifiedAt: string | null;
}

export interface ArchivePreview {
  readonly kind: 'archive';
  readonly members: ArchiveRow[];
  readonly hasMore: boolean;
  /** Why the members end before the archive does. */
  readonly problem?: string;
}

const rowOf = ({ name, declaredSize, isEncrypted, modifiedAt }: ArchiveEntry): ArchiveRow => ({
  name,
  size: declaredSize,
  isEncrypted,
  modifiedAt: modifiedAt && !Number.isNaN(modifiedAt.getTime()) ? modifiedAt.toISOString() : null,
});

/** `isRefusal` tells what the archive itself is to blame for from what is a fault of ours. */
export interface ArchiveSource {
  readonly list: ListArchive;
  readonly isRefusal: (error: unknown) => error is Error;
}

export const previewArchive = async (
  content: Content,
  window: PreviewWindow,
  source: ArchiveSource,
): Promise<ArchivePreview> => {
  const wanted = createWindow<ArchiveRow>(window);
  try {
    for await (const entry of source.list(content)) if (!wanted.add(rowOf(entry))) break;
    return { kind: 'archive', members: wanted.rows, hasMore: wanted.hasMore() };
  } catch (error) {
    if (!source.isRefusal(error)) throw error;
    return { kind: 'archive', members: wanted.rows, hasMore: false, problem: error.message };
  }
};
