import type { Readable } from 'node:stream';
import { ArchiveError } from '../../../../assets/archives/archive-error.ts';
import { peek, sniffFormat } from '../../../../assets/archives/archive-source.ts';
import { openArchive } from '../../../../assets/archives/open-archive.ts';
import type { TemplateFile } from '../template.ts';

/** A template of more is refused by itself; a list or capture may have so much. */
const maxFileBytes = 64 * 1_048_576;
const limits = { maxMembers: 50_000, maxDepth: 2, maxRatio: 200, maxBytes: 2 * 1024 ** 3 };

/** The files of an upload: those of an archive in its order, or the one that it is. */
export async function* importedFiles(
  source: Readable,
  { name, size, signal }: { name: string; size: number; signal?: AbortSignal },
): AsyncGenerator<TemplateFile, void> {
  const { head, stream } = await peek(source);
  if (sniffFormat(head) === undefined) {
    yield { path: name, bytes: await bytesOf(name, stream) };
    return;
  }
  const archive = await openArchive({ stream, size, name }, { limits });
  try {
    for await (const member of archive.members()) {
      signal?.throwIfAborted();
      yield { path: member.name, bytes: await bytesOf(member.name, member.open()) };
    }
  } finally {
    await archive.close();
  }
}

const bytesOf = async (name: string, stream: Readable) => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxFileBytes) throw new ArchiveError('TOO_LARGE', name, `is longer than ${maxFileBytes} bytes`);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
};
