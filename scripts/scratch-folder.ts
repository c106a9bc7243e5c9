import { chmodSync, existsSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const inMemory = '/dev/shm';
const neededBytes = 8 * 2 ** 30;

const roomInMemory = (): number => {
  if (!existsSync(inMemory)) return 0;
  const { bavail, bsize } = statfsSync(inMemory);
  return Math.min(bavail * bsize, process.availableMemory());
};

/** A folder for the files of tests: in memory if there is room, so that a slow disk causes no failures. */
export const createScratchFolder = (): string => {
  const folder = mkdtempSync(join(roomInMemory() >= neededBytes ? inMemory : tmpdir(), 'rushhour-tests-'));
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  return folder;
};
