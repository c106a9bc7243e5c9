import type { Readable } from 'node:stream';
import type { Blobs, Staged } from '../../store/blobs/blobs.ts';
import { ArchiveError } from '../archives/archive-error.ts';
import { openArchive } from '../archives/open-archive.ts';

const maxTextBytes = 16 * 1_048_576;

export interface ArchiveParts {
  readonly manifest: unknown;
  readonly application: unknown;
  readonly pcap: { readonly path: string; readonly staged: Staged } | undefined;
}

type Storage = Pick<Blobs, 'stage' | 'readStaged' | 'discard'>;

/** The parts of an uploaded archive, checked for being what an export writes; refused ones leave nothing. */
export const readArchive = async (
  blobs: Storage,
  source: Readable,
  { filename, maxBytes }: { filename: string; maxBytes: number },
): Promise<ArchiveParts> => {
  const upload = await blobs.stage(source, { maxBytes });
  const found: { manifest?: unknown; application?: unknown; pcap?: ArchiveParts['pcap'] } = {};
  try {
    const stream = await blobs.readStaged(upload);
    const archive = await openArchive({ stream, size: upload.size, name: filename }, { limits: { maxMembers: 8 } });
    try {
      for await (const { name, open } of archive.members()) {
        if (name === 'manifest.json') found.manifest = await jsonOf(name, open());
        else if (name === 'application.json') found.application = await jsonOf(name, open());
        else if (/^pcap\/[0-9a-f]{64}\.pcap$/.test(name) && found.pcap === undefined) {
          found.pcap = { path: name, staged: await blobs.stage(open(), { maxBytes }) };
        } else throw new ArchiveError('BAD_ARCHIVE', name, 'an exported application holds no such file');
      }
    } finally {
      await archive.close();
    }
    for (const name of ['manifest', 'application'] as const) {
      if (found[name] === undefined) throw new ArchiveError('BAD_ARCHIVE', `${name}.json`, 'is missing');
    }
    return { manifest: found.manifest, application: found.application, pcap: found.pcap };
  } catch (error) {
    if (found.pcap) await blobs.discard(found.pcap.staged);
    throw error;
  } finally {
    await blobs.discard(upload);
  }
};

const jsonOf = async (name: string, stream: Readable): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxTextBytes) throw new ArchiveError('TOO_LARGE', name, `is longer than ${maxTextBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (cause) {
    throw new ArchiveError('BAD_ARCHIVE', name, 'is not JSON', { cause });
  }
};
