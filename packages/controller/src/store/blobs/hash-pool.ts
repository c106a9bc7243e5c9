import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { createPermits } from '../../concurrency/semaphore.ts';
import type { Digests } from './blobs.ts';
import type { HashRequest } from './hash-worker.ts';

interface HashThread {
  ask(request: HashRequest): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * A hashing thread, started immediately. It answers in request order, keeps the process alive only while an
 * answer is pending, and is restarted by the next request if it died.
 */
const createHashThread = (): HashThread => {
  let worker: Worker | undefined;
  let waiting: PromiseWithResolvers<string[]>[] = [];

  const fail = (error: Error) => {
    const lost = waiting;
    waiting = [];
    worker = undefined;
    for (const waiter of lost) waiter.reject(error);
  };

  const start = () => {
    const started = new Worker(new URL('./hash-worker.ts', import.meta.url), { execArgv: [] });
    started.on('message', (digests: string[]) => {
      const waiter = waiting.shift();
      if (waiting.length === 0) started.unref();
      waiter?.resolve(digests);
    });
    started.on('error', (cause) => fail(new Error('the hashing thread failed', { cause })));
    started.on('exit', () => worker === started && fail(new Error('the hashing thread ended')));
    started.unref();
    return started;
  };
  worker = start();

  return {
    ask: (request) => {
      const waiter = Promise.withResolvers<string[]>();
      worker ??= start();
      worker.ref();
      waiting.push(waiter);
      worker.postMessage(request);
      return waiter.promise;
    },
    close: async () => {
      const ending = worker;
      fail(new Error('the hashing thread was closed'));
      ending?.ref();
      await ending?.terminate();
    },
  };
};

export interface HashJob {
  /** Resolves when the bytes, which lie in shared memory, may be overwritten. */
  update(bytes: Uint8Array): Promise<void>;
  digest(): Promise<Digests>;
  /** Releases the permit; must be called, also after `digest`. */
  close(): void;
}

export interface HashPool {
  /** Starts the threads before the first content arrives. */
  start(): void;
  /** Waits for a permit. */
  open(signal?: AbortSignal | undefined): Promise<HashJob>;
  close(): Promise<void>;
}

export interface HashPoolOptions {
  /** Contents hashed concurrently; further ones wait. */
  readonly concurrency?: number;
  readonly threads?: number;
}

// sha3-384 alone costs more than the three others together, so a thread for it and one for them end at about the same time.
const shares = [['sha3-384'], ['md5', 'sha1', 'sha256']] as const;

/** The algorithms one thread computes of one content. */
const startShare = (thread: HashThread, job: number, algorithms: readonly string[]) => {
  // If this fails, the thread does not know the job and the next update rejects.
  thread.ask({ kind: 'open', job, algorithms }).catch(() => {});
  return {
    update: (bytes: Uint8Array) => thread.ask({ kind: 'update', job, bytes }),
    digest: () => thread.ask({ kind: 'digest', job }),
    drop: () => thread.ask({ kind: 'drop', job }).catch(() => {}),
  };
};

const startJob = (mine: readonly ReturnType<typeof startShare>[], release: () => void): HashJob => {
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
      release();
    },
  };
};

export const createHashPool = (options: HashPoolOptions = {}): HashPool => {
  const permits = createPermits(options.concurrency ?? 4);
  const threadCount = options.threads ?? Math.min(4, Math.max(shares.length, availableParallelism()));
  let started: HashThread[] | undefined;
  const start = () => {
    started ??= Array.from({ length: threadCount }, createHashThread);
    return started;
  };
  let jobCount = 0;
  return {
    start,
    open: async (signal) => {
      const release = await permits.acquire(signal);
      const threads = start();
      const mine = shares.map((algorithms) => {
        const job = jobCount++;
        return startShare(threads[job % threads.length] as HashThread, job, algorithms);
      });
      return startJob(mine, release);
    },
    close: async () => void (await Promise.all((started ?? []).map((thread) => thread.close()))),
  };
};
