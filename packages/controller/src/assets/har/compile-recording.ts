import { Worker } from 'node:worker_threads';
import { type HarResult, type HarWork, harResultOf } from './har-result.ts';

const patienceMs = 60_000;
const mostHereBytes = 1024 * 1024;

/** In a thread of its own. */
const compileAside = async (work: HarWork): Promise<HarResult> => {
  // Handed over, not copied: copies of large ones would hold up requests, too.
  const transferList = [work.recording.buffer as ArrayBuffer];
  const worker = new Worker(new URL('./har-worker.ts', import.meta.url), {
    workerData: work,
    transferList,
    execArgv: [],
  });
  const { promise, resolve } = Promise.withResolvers<HarResult>();
  const fail = (message: string) => resolve({ problem: { code: 'HAR_BROKEN', message } });
  const timer = setTimeout(() => fail(`takes more than ${patienceMs / 1000} s to read`), patienceMs);
  worker.on('message', resolve);
  worker.on('error', ({ message }) => fail(`cannot be read: ${message}`));
  worker.on('exit', () => fail('cannot be read: it needs too much memory'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
};

/** A large recording would hold up every request; for a small one a thread would take longer than the work. */
export const compileRecording = async (work: HarWork): Promise<HarResult> =>
  work.recording.length <= mostHereBytes ? harResultOf(work) : compileAside(work);
