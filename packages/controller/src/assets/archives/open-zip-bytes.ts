import { ArchiveError } from './archive-error.ts';
import type { ArchiveMember } from './archive-member.ts';
import { type ArchiveLimits, ArchiveMeter, defaultArchiveLimits } from './archive-meter.ts';
import { sniffFormat } from './archive-source.ts';
import { zipMembers } from './zip-archive.ts';
import { fileOfBytes } from './zip-file-reader.ts';

/** The members of a zip that is in memory and stays there, under the same limits as any other archive. */
export const membersOfZip = (
  bytes: Buffer,
  { password, limits = {} }: { password: string | undefined; limits?: Partial<ArchiveLimits> },
): AsyncGenerator<ArchiveMember, void> => {
  if (sniffFormat(bytes) !== 'zip') throw new ArchiveError('NOT_AN_ARCHIVE', '', 'the file is not a zip archive');
  const meter = new ArchiveMeter({ ...defaultArchiveLimits, ...limits });
  return zipMembers(fileOfBytes(bytes), { meter, within: [], password });
};
