import { availableParallelism } from 'node:os';
import type { Digests } from './blobs.ts';
import { createHashThread, type HashThread } from './hash-thread.ts';
import { createPlaces } from './places.ts';

export interface HashJob {
  /** Resolves when the bytes, which lie in shared memory, may be overwritten. */
  update(bytes: Uint8Array): Promise<void>;
  digest(): Promise<Digests>;
  /** Gives the place back; must be called, also after `digest`. */
  close(): void;
}

export interface HashPool {
  /** Starts the threads ahead of the first content; they take a moment. */
  start(): void;
  /** Waits for a place. */
  open(signal?: AbortSignal | undefined): Promise<HashJob>;
  close(): Promise<void>;
}

export interface HashPoolOptions {
  /** Contents hashed at once; further ones wait. */
  readonly places?: number;
  readonly threads?: number;
}

// sha3-384 alone costs more than the three others together, so a thread for it and one for them end at about the same time.
const shares = [['sha3-384'], ['md5', 'sha1', 'sha256']] as const;

/** The algorithms one thread computes of one content. */
const startShare = (thread: HashThread, job: number, algorithms: readonly string[]) => {
  // A thread that fails here does not know the job later: the next update tells.
  thread.ask({ kind: 'open', job, algorithms }).catch(() => {});
  return {
    update: (bytes: Uint8Array) => thread.ask({ kind: 'update', job, bytes }),
    digest: () => thread.ask({ kind: 'digest', job }),
    drop: () => thread.ask({ kind: 'drop', job }).catch(() => {}),
  };
};

const startJob = (mine: readonly ReturnType<typeof startShare>[], leave: () => void): HashJob => {
  let isOpen = true;
  return {
    update: async (bytes) => void (await Promise.all(mine.map((share) => share.update(bytes)))),
    digest: async () => {
      isOpen = false;
      const digests = await Promise.all(mine.map((share) => share.digest()));
      const [sha3_384, md5, sha1, sha256] = digests.flat() as [string, string, string, string];
      return { md5, sha1, sha256, sha3_384 };
    },
    close: () => {
      if (isOpen) for (const share of mine) share.drop();
      isOpen = false;
      leave();
    },
  };
};

export const createHashPool = (options: HashPoolOptions = {}): HashPool => {
  const places = createPlaces(options.places ?? 4);
  const threadCount = options.threads ?? Math.min(4, Math.max(shares.length, availableParallelism()));
  let started: HashThread[] | undefined;
  const start = () => {
    started ??= Array.from({ length: threadCount }, createHashThread);
    return started;
  };
  let turn = 0;
  return {
    start,
    open: async (signal) => {
      const leave = await places.enter(signal);
      const threads = start();
      const mine = shares.map((algorithms) => {
        const job = turn++;
        return startShare(threads[job % threads.length] as HashThread, job, algorithms);
      });
      return startJob(mine, leave);
    },
    close: async () => void (await Promise.all((started ?? []).map((thread) => thread.close()))),
  };
};
