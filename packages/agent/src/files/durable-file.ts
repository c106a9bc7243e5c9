import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

/** Replaces a file atomically: after a power failure it has either the old or the new content. */
export const writeDurably = async (path: string, content: string | Uint8Array): Promise<void> => {
  const unfinished = `${path}.tmp`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(unfinished, 'w', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    await unlink(unfinished).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
  await syncFolder(dirname(path));
};
