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

/** For the files of the tests: in memory where there is room, so that a slow disk does not decide what passes. */
export const createScratchFolder = (): string => {
  const folder = mkdtempSync(join(roomInMemory() >= neededBytes ? inMemory : tmpdir(), 'rushhour-tests-'));
  // PostgreSQL runs as a user of its own.
  chmodSync(folder, 0o755);
  return folder;
};
