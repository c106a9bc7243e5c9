import { packetRows } from '@rushhour/pcap';
import type { FileRow } from '../../store/assets/files.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import { ArchiveError } from '../archives/archive-error.ts';
import { openArchive } from '../archives/open-archive.ts';
import { type Content, storedContent } from './content.ts';
import { createPreview } from './preview/preview.ts';
import type { Kind } from './upload/signature.ts';

/** Members of a stored archive; a zip that lies in a file of this machine is not copied first. */
async function* membersOf(content: Content, path: string | undefined, name: string) {
  const source = path === undefined ? { stream: await content.read(0, content.size), size: content.size } : { path };
  const archive = await openArchive({ ...source, name });
  try {
    yield* archive.members();
  } finally {
    await archive.close();
  }
}

interface Window {
  start: number;
  limit: number;
  filter?: string | undefined;
}

export const previewFile = async (blobs: Blobs, file: FileRow, window: Window) => {
  const path = file.kind === 'archive' ? await blobs.findPath(file.sha256) : undefined;
  const show = createPreview({
    listPackets: packetRows,
    archives: {
      list: (content) => membersOf(content, path, file.name),
      isRefusal: (error): error is Error => error instanceof ArchiveError,
    },
  });
  return show(storedContent(blobs, file), file.kind as Kind, window);
};
