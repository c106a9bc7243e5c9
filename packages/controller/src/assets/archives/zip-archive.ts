import { Readable } from 'node:stream';
import type { Entry, FileEntry } from '@zip.js/zip.js';
import { ArchiveError } from './archive-error.ts';
import type { ArchiveMember, ReadingContext } from './archive-member.ts';
import type { ArchiveMeter } from './archive-meter.ts';
import { MemberNames, parseMemberName } from './member-name.ts';
import { zipContent } from './zip-content.ts';
import { zipErrorOf } from './zip-error.ts';
import { type ZipFile, ZipFileReader } from './zip-file-reader.ts';
import { ZipReader } from './zip-library.ts';

interface NamedEntry {
  readonly name: string;
  readonly entry: FileEntry;
}

const fileTypeMask = 0o170000;
const plainTypes = [0, 0o100000, 0o040000];

/** Checks names, types, sizes and places of all members before it hands out the first. */
export async function* zipMembers(file: ZipFile, context: ReadingContext): AsyncGenerator<ArchiveMember, void> {
  const entries = await listEntries(file, context.meter);
  for (const { name, entry } of entries) await requireOwnPlace(name, entry);
  for (const { name, entry } of entries) {
    yield {
      name,
      within: context.within,
      declaredSize: entry.uncompressedSize,
      isEncrypted: entry.encrypted,
      modifiedAt: entry.lastModDate,
      open: () => Readable.from(zipContent(name, entry, context), { objectMode: false }),
    };
  }
}

async function listEntries(file: ZipFile, meter: ArchiveMeter): Promise<NamedEntry[]> {
  const reader = new ZipReader(new ZipFileReader(file), {
    strictness: 'strict',
    filenameValidation: 'tolerant',
    decodeText: showControlCharacters,
  });
  const names = new MemberNames();
  const entries: NamedEntry[] = [];
  let declared = 0;
  try {
    for await (const entry of reader.getEntriesGenerator()) {
      meter.addMember(entry.filename);
      const name = parseMemberName(entry.filename);
      requirePlainType(entry, name);
      names.add(name, entry.directory);
      declared += entry.uncompressedSize;
      meter.requireBytes(declared, name);
      meter.requireRatio(entry.uncompressedSize, entry.compressedSize, name);
      if (!entry.directory) entries.push({ name, entry });
    }
  } catch (error) {
    throw zipErrorOf(error, '');
  }
  return entries;
}

/** Code page 437 has pictures in the place of control characters, which would then pass for harmless. */
function showControlCharacters(bytes: Uint8Array): string | undefined {
  return bytes.some((byte) => byte < 0x20 || byte === 0x7f) ? Buffer.from(bytes).toString('latin1') : undefined;
}

function requirePlainType(entry: Entry, name: string): void {
  const type = ((entry.externalFileAttributes >>> 16) | (entry.unixMode ?? 0)) & fileTypeMask;
  if (entry.symlink || !plainTypes.includes(type)) {
    throw new ArchiveError('UNSAFE_TYPE', name, 'the member is a link or a device, not a file');
  }
  if (entry.directory && entry.uncompressedSize > 0) {
    throw new ArchiveError('SIZE_MISMATCH', name, 'a folder has content');
  }
}

/** Compares the local header with the list, and the place with those of the members before. */
async function requireOwnPlace(name: string, entry: FileEntry): Promise<void> {
  try {
    await entry.getData(new WritableStream(), { checkOverlappingEntryOnly: true, passThrough: true });
  } catch (error) {
    throw zipErrorOf(error, name);
  }
}
