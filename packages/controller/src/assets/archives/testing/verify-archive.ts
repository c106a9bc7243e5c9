import type { ArchiveFormat } from '../archive-member.ts';
import type { ArchiveSource } from '../archive-source.ts';
import { type OpenOptions, openArchive } from '../open-archive.ts';

export interface VerifiedMember {
  readonly name: string;
  readonly within: readonly string[];
  /** Counted, not declared. */
  readonly size: number;
}

export interface VerifiedArchive {
  readonly format: ArchiveFormat;
  readonly members: readonly VerifiedMember[];
}

/** Reads every byte of an archive and keeps none. */
export async function verifyArchive(source: ArchiveSource, options: OpenOptions = {}): Promise<VerifiedArchive> {
  const archive = await openArchive(source, options);
  const members: VerifiedMember[] = [];
  try {
    for await (const { name, within, open } of archive.members()) {
      let size = 0;
      for await (const chunk of open()) size += chunk.length;
      members.push({ name, within, size });
    }
  } finally {
    await archive.close();
  }
  return { format: archive.format, members };
}
