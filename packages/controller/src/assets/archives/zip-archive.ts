import { Readable } from 'node:stream';
import { type Entry, type FileEntry, Reader } from '@zip.js/zip.js';
import { ArchiveError } from './archive-error.ts';
import type { ArchiveMember, ReadingContext } from './archive-member.ts';
import { MemberNames, parseMemberName } from './archive-member.ts';
import { type ArchiveLimits, ArchiveMeter, defaultArchiveLimits } from './archive-meter.ts';
import { sniffFormat } from './archive-source.ts';
import { zipContent, zipErrorOf } from './zip-content.ts';
import { ZipReader } from './zip-library.ts';

/** The members of a zip that is in memory and stays there, under the same limits as any other archive. */
export const membersOfZip = (
  bytes: Buffer,
  { password, limits = {} }: { password: string | undefined; limits?: Partial<ArchiveLimits> },
): AsyncGenerator<ArchiveMember, void> => {
  if (sniffFormat(bytes) !== 'zip') throw new ArchiveError('NOT_AN_ARCHIVE', '', 'the file is not a zip archive');
  const meter = new ArchiveMeter({ ...defaultArchiveLimits, ...limits });
  return zipMembers(fileOfBytes(bytes), { meter, within: [], password });
};

// Only the central directory is read in one piece; a thousand members need a hundredth of this.
const maxReadBytes = 8 * 1024 * 1024;
const chunkBytes = 64 * 1024;

/** As much of an open file as reading a zip needs. */
interface ZipFile {
  stat(): Promise<{ size: number }>;
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

/** A zip in memory, for content that must not touch the disk. */
export const fileOfBytes = (bytes: Buffer): ZipFile => ({
  stat: async () => ({ size: bytes.length }),
  read: async (buffer, offset, length, position) => ({
    bytesRead: bytes.copy(buffer, offset, position, position + length),
  }),
});

/** Gives zip.js random access to an open file. */
class ZipFileReader extends Reader<ZipFile> {
  readonly #file: ZipFile;

  constructor(file: ZipFile) {
    super(file);
    this.#file = file;
  }

  override async init(): Promise<void> {
    await super.init?.();
    this.size = (await this.#file.stat()).size;
  }

  override async readUint8Array(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    if (length > maxReadBytes) {
      throw new ArchiveError('TOO_MANY_MEMBERS', '', 'the list of members is larger than 8 MiB');
    }
    const buffer = new Uint8Array(Math.max(0, Math.min(length, this.size - offset)));
    let filled = 0;
    while (filled < buffer.length) {
      const { bytesRead } = await this.#file.read(buffer, filled, buffer.length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  }

  override createReadable(options?: Parameters<Reader<ZipFile>['createReadable']>[0]): ReadableStream {
    return super.createReadable({ ...options, chunkSize: chunkBytes });
  }
}

interface NamedEntry {
  readonly name: string;
  readonly entry: FileEntry;
}

const fileTypeMask = 0o170000;
const plainTypes = [0, 0o100000, 0o040000];

/** Checks names, types, sizes and offsets of all members before it yields the first. */
export async function* zipMembers(file: ZipFile, context: ReadingContext): AsyncGenerator<ArchiveMember, void> {
  const entries = await listEntries(file, context.meter);
  for (const { name, entry } of entries) await assertNoOverlap(name, entry);
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

/** Code page 437 shows control characters as symbols, which would then look harmless. */
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

/** Compares the local header with the central directory, and checks that the member does not overlap earlier ones. */
async function assertNoOverlap(name: string, entry: FileEntry): Promise<void> {
  try {
    await entry.getData(new WritableStream(), { checkOverlappingEntryOnly: true, passThrough: true });
  } catch (error) {
    throw zipErrorOf(error, name);
  }
}
