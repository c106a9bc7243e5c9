import type { Readable } from 'node:stream';
import { ArchiveError } from './archive-error.ts';

/** The text of an archive member; a longer one is refused. */
export const readMemberText = async (name: string, stream: Readable, maxBytes: number): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new ArchiveError('TOO_LARGE', name, `is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

export const parseMemberJson = (name: string, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ArchiveError('BAD_ARCHIVE', name, 'is not JSON', { cause });
  }
};
