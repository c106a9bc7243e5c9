import type { Blobs, Staged } from '../../../store/blobs/blobs.ts';
import { ArchiveError } from '../../archives/archive-error.ts';
import { openArchive } from '../../archives/open-archive.ts';

interface Unpacking {
  readonly name: string;
  readonly category: string;
  readonly maxBytes: number;
}

interface StagedMember {
  readonly name: string;
  readonly staged: Staged;
}

/** Categories that take an archive as it is; in the others an archive inside the archive is opened too. */
const keepsArchives = ['archive', 'payload', 'other'];

/** Stages every member of a staged archive; when one is refused, none stays. */
export const stageMembers = async (blobs: Blobs, { path }: Staged, { name, category, maxBytes }: Unpacking) => {
  const nested = keepsArchives.includes(category) ? 'keep' : 'open';
  const members: StagedMember[] = [];
  try {
    const archive = await openArchive({ path, name }, { nested, limits: { maxBytes } });
    try {
      for await (const member of archive.members()) {
        members.push({ name: member.name.slice(-255), staged: await blobs.stage(member.open(), { maxBytes }) });
      }
    } finally {
      await archive.close();
    }
    if (members.length === 0) throw new ArchiveError('BAD_ARCHIVE', '', 'the archive holds no file');
    return members;
  } catch (error) {
    for (const { staged } of members) await blobs.discard(staged);
    throw error;
  }
};
