import { createHash, type Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

/** Requests to the thread, in order. `bytes` is shared memory and is read before the reply is sent. */
export type HashRequest =
  | { kind: 'open'; job: number; algorithms: readonly string[] }
  | { kind: 'update'; job: number; bytes: Uint8Array }
  | { kind: 'digest'; job: number }
  | { kind: 'drop'; job: number };

const jobs = new Map<number, Hash[]>();

const hashesOf = (job: number) => {
  const hashes = jobs.get(job);
  if (!hashes) throw new Error(`hashing job ${job} is not open`);
  return hashes;
};

/** The hex digests in the order of the algorithms; an empty list for the other requests. */
const answer = (request: HashRequest): string[] => {
  switch (request.kind) {
    case 'open':
      jobs.set(
        request.job,
        request.algorithms.map((algorithm) => createHash(algorithm)),
      );
      return [];
    case 'update':
      for (const hash of hashesOf(request.job)) hash.update(request.bytes);
      return [];
    case 'digest': {
      const digests = hashesOf(request.job).map((hash) => hash.digest('hex'));
      jobs.delete(request.job);
      return digests;
    }
    case 'drop':
      jobs.delete(request.job);
      return [];
  }
};

parentPort?.on('message', (request: HashRequest) => parentPort?.postMessage(answer(request)));
