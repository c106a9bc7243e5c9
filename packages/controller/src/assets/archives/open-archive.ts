import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ArchiveError } from './archive-error.ts';
import type { Archive, ArchiveMember, ReadingContext } from './archive-member.ts';
import { parseMemberName } from './archive-member.ts';
import { type ArchiveLimits, ArchiveMeter, defaultArchiveLimits } from './archive-meter.ts';
import { type ArchiveSource, exactly, peek, sniffBytes, sniffFormat, spool } from './archive-source.ts';
import { tarMembers } from './tar-archive.ts';
import { zipMembers } from './zip-archive.ts';

/** Counts the bytes of an archive that is not compressed. */
export async function* counted(
  bytes: AsyncIterable<Buffer>,
  meter: ArchiveMeter,
  isOutermost: boolean,
): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    if (isOutermost) meter.addInput(chunk.length);
    meter.addOutput(chunk.length, '');
    yield chunk;
  }
}

/** Unpacks gzip, counting both sides, and stops at the first byte too many. */
export async function* gunzipped(
  bytes: AsyncIterable<Buffer>,
  meter: ArchiveMeter,
  isOutermost: boolean,
): AsyncGenerator<Buffer> {
  let input = 0;
  let output = 0;
  async function* packed(): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      input += chunk.length;
      if (isOutermost) meter.addInput(chunk.length);
      yield chunk;
    }
  }
  const gunzip = createGunzip({ chunkSize: 64 * 1024 });
  pipeline(Readable.from(packed(), { objectMode: false }), gunzip, () => {});
  try {
    for await (const chunk of gunzip) {
      output += chunk.length;
      meter.requireRatio(output, input, '');
      meter.addOutput(chunk.length, '');
      yield chunk;
    }
  } catch (error) {
    throw gzipErrorOf(error);
  } finally {
    gunzip.destroy();
  }
}

function gzipErrorOf(cause: unknown): ArchiveError {
  if (cause instanceof ArchiveError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR')
    return new ArchiveError('TRUNCATED_ARCHIVE', '', 'the gzip data ends in the middle', { cause });
  const isSum = message === 'incorrect data check' || message === 'incorrect length check';
  return isSum
    ? new ArchiveError('BAD_CHECKSUM', '', 'the checksum of the gzip data is wrong', { cause })
    : new ArchiveError('BAD_ARCHIVE', '', 'the gzip data is damaged', { cause });
}

export interface OpenOptions {
  readonly limits?: Partial<ArchiveLimits>;
  /** For encrypted members of zip archives. */
  readonly password?: string;
  /** `open` unpacks members that are archives by name and content; default `keep`. */
  readonly nested?: 'keep' | 'open';
  /** Where a zip that arrives as a stream is kept while it is read; default the system's folder for temporary files. */
  readonly spoolFolder?: string;
}

interface Level extends ReadingContext {
  readonly nested: 'keep' | 'open';
  readonly spoolFolder: string | undefined;
}

/** Opens a zip, tar, tar.gz or gz for reading under limits; everything unsafe is refused with an ArchiveError. */
export async function openArchive(source: ArchiveSource, options: OpenOptions = {}): Promise<Archive> {
  const level: Level = {
    meter: new ArchiveMeter({ ...defaultArchiveLimits, ...options.limits }),
    within: [],
    password: options.password,
    nested: options.nested ?? 'keep',
    spoolFolder: options.spoolFolder,
  };
  return 'path' in source ? openFile(source.path, source.name ?? '', level) : openStream(source, level);
}

async function openFile(path: string, name: string, level: Level): Promise<Archive> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(sniffBytes), 0, sniffBytes, 0);
    if (sniffFormat(buffer.subarray(0, bytesRead)) === 'zip') return zipArchive(file, level);
    return await openUnseekable(file.createReadStream({ start: 0 }), name, level);
  } catch (error) {
    await file.close();
    throw error;
  }
}

interface StreamSource {
  readonly stream: Readable;
  readonly size: number | null;
  readonly name?: string;
}

async function openStream(source: StreamSource, level: Level): Promise<Archive> {
  try {
    const { head, stream } = await peek(source.stream);
    const bytes = source.size === null ? stream : Readable.from(exactly(stream, source.size), { objectMode: false });
    bytes.once('close', () => source.stream.destroy());
    if (sniffFormat(head) === 'zip') return zipArchive(await spool(bytes, level.spoolFolder), level);
    return await openUnseekable(bytes, source.name ?? '', level);
  } catch (error) {
    source.stream.destroy();
    throw error;
  }
}

function zipArchive(file: FileHandle, level: Level): Archive {
  return { format: 'zip', members: () => walk(zipMembers(file, level), level), close: () => file.close() };
}

async function openUnseekable(source: Readable, name: string, level: Level): Promise<Archive> {
  const isOutermost = level.within.length === 0;
  const { head, stream } = await peek(source);
  const close = async () => void source.destroy();
  const format = sniffFormat(head);
  if (format === 'tar') {
    const bytes = counted(stream, level.meter, isOutermost);
    return { format, members: () => walk(tarMembers(bytes, level), level), close };
  }
  if (format !== 'gz') {
    throw new ArchiveError('NOT_AN_ARCHIVE', level.within.at(-1) ?? '', 'the file is not a zip, tar or gzip archive');
  }
  const unpacked = await peek(Readable.from(gunzipped(stream, level.meter, isOutermost), { objectMode: false }));
  if (sniffFormat(unpacked.head) === 'tar') {
    return { format: 'tar.gz', members: () => walk(tarMembers(unpacked.stream, level), level), close };
  }
  return { format, members: () => walk(gzipMember(name, unpacked.stream, level), level), close };
}

async function* gzipMember(archiveName: string, content: Readable, level: Level): AsyncGenerator<ArchiveMember, void> {
  const name = parseMemberName(archiveName.replace(/\.gz$/i, '') || 'content');
  level.meter.addMember(name);
  const facts = { within: level.within, declaredSize: null, isEncrypted: false, modifiedAt: null };
  yield { name, ...facts, open: () => content };
  content.destroy();
}

/** Yields the members; inner archives are replaced by their members if `nested` is `open`. */
async function* walk(members: AsyncIterable<ArchiveMember>, level: Level): AsyncGenerator<ArchiveMember, void> {
  for await (const member of members) {
    if (level.nested === 'keep' || !/\.(zip|tar|tgz|gz)$/i.test(member.name)) yield member;
    else yield* walkInner(member, level);
  }
}

async function* walkInner(member: ArchiveMember, level: Level): AsyncGenerator<ArchiveMember, void> {
  const { head, stream } = await peek(member.open());
  if (!sniffFormat(head)) {
    yield { ...member, open: () => stream };
    stream.destroy();
    return;
  }
  const within = [...level.within, member.name];
  level.meter.requireDepth(within.length + 1, member.name);
  const name = member.name.split('/').at(-1) ?? '';
  const inner = await openStream({ stream, size: null, name }, { ...level, within });
  try {
    yield* inner.members();
  } finally {
    await inner.close();
  }
}
