import { Readable } from 'node:stream';
import { BlobError } from '../../store/blobs/blob-error.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import { attemptsWithHash } from '../../store/runs/run-attempts.ts';
import type { Store } from '../../store/store.ts';

/** Contents for agents: stored files, and the attempts of runs, which are kept with them. */
export const withAttempts = ({ read }: Pick<Store, 'read'>, blobs: Pick<Blobs, 'read'>): Pick<Blobs, 'read'> => ({
  read: async (sha256, range) => {
    try {
      return await blobs.read(sha256, range);
    } catch (error) {
      const isGone = error instanceof BlobError && error.code === 'NOT_FOUND';
      const attempts = isGone ? await attemptsWithHash(read, sha256) : undefined;
      if (attempts === undefined) throw error;
      return Readable.from([attempts.subarray(range?.start ?? 0, range?.end)]);
    }
  },
});
