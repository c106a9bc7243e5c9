import { Readable } from 'node:stream';
import { type Extract, extract, type Header } from 'tar-stream';
import { ArchiveError } from './archive-error.ts';
import type { ArchiveMember, ReadingContext } from './archive-member.ts';
import { MemberNames, parseMemberName } from './archive-member.ts';

const blockBytes = 512;
const plainTypes: readonly unknown[] = ['file', 'contiguous-file', 'directory'];

/** Members of a tar stream, unpacked and counted by the caller. */
export async function* tarMembers(
  bytes: AsyncIterable<Buffer>,
  context: ReadingContext,
): AsyncGenerator<ArchiveMember, void> {
  const parser = extract();
  const names = new MemberNames();
  let current = '';
  try {
    const entries = parser[Symbol.asyncIterator]();
    void pump(bytes, parser);
    for (let next = await entries.next(); !next.done; next = await entries.next()) {
      const { header } = next.value;
      current = header.name;
      context.meter.addMember(current);
      const name = parseMemberName(current);
      const isFolder = header.type === 'directory' || current.endsWith('/');
      requirePlainType(header, name, isFolder);
      names.add(name, isFolder);
      const chunks = next.value[Symbol.asyncIterator]() as Chunks;
      if (!isFolder) yield memberOf(name, header, chunks, context);
      // The parser waits until a member has been read to its end.
      while (!(await chunks.next()).done);
    }
  } catch (error) {
    throw tarErrorOf(error, current);
  } finally {
    parser.destroy(null);
  }
}

type Chunks = AsyncIterator<Buffer>;

function memberOf(name: string, header: Header, chunks: Chunks, context: ReadingContext): ArchiveMember {
  return {
    name,
    within: context.within,
    declaredSize: header.size,
    isEncrypted: false,
    modifiedAt: Number.isNaN(header.mtime.getTime()) ? null : header.mtime,
    open: () => Readable.from(contentOf(name, chunks), { objectMode: false }),
  };
}

/** Never returns the iterator: that would end the whole archive where a reader stops early. */
async function* contentOf(name: string, chunks: Chunks): AsyncGenerator<Buffer> {
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  } catch (error) {
    throw tarErrorOf(error, name);
  }
}

function requirePlainType(header: Header, name: string, isFolder: boolean): void {
  const extras = Object.keys(header.pax ?? {});
  if (!plainTypes.includes(header.type) || extras.some((key) => key.startsWith('GNU.sparse'))) {
    throw new ArchiveError('UNSAFE_TYPE', name, `the member is of type ${header.type ?? 'unknown'}, not a plain file`);
  }
  if (isFolder && header.size > 0) throw new ArchiveError('SIZE_MISMATCH', name, 'a folder has content');
}

/** Feeds the parser; a failure reaches the reader of the parser. */
async function pump(bytes: AsyncIterable<Buffer>, parser: Extract): Promise<void> {
  let tail = Buffer.alloc(0);
  try {
    for await (const chunk of bytes) {
      if (parser.destroyed) return;
      tail = Buffer.concat([tail, chunk.subarray(-blockBytes)]).subarray(-blockBytes);
      if (!parser.write(chunk)) await drained(parser);
    }
    if (tail.length < blockBytes || tail.some((byte) => byte !== 0)) {
      throw new ArchiveError('TRUNCATED_ARCHIVE', '', 'the end mark of the tar archive is missing');
    }
    parser.end(null);
  } catch (error) {
    parser.destroy(error as Error);
  }
}

function drained(parser: Extract): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      parser.off('drain', settle);
      parser.off('close', settle);
      resolve();
    };
    parser.on('drain', settle);
    parser.on('close', settle);
  });
}

function tarErrorOf(cause: unknown, member: string): ArchiveError {
  if (cause instanceof ArchiveError) return cause;
  const isCut = (cause as Error).message === 'Unexpected end of data';
  return isCut
    ? new ArchiveError('TRUNCATED_ARCHIVE', member, 'the archive ends in the middle', { cause })
    : new ArchiveError('BAD_ARCHIVE', member, 'what follows is not a readable tar header', { cause });
}
