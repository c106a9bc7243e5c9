import { Worker } from 'node:worker_threads';
import type { HashRequest } from './hash-worker.ts';

export interface HashThread {
  ask(request: HashRequest): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * One thread that hashes, started at once. It answers in the order it was asked, keeps the process alive only while an
 * answer is due, and is started anew by the next request if it died.
 */
export const createHashThread = (): HashThread => {
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
