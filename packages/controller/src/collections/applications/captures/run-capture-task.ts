import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { createPlaces } from '../../../store/blobs/places.ts';
import type { CaptureTask, FromThread, OutcomeOf, ToThread } from './capture-task.ts';

export interface CaptureAccess {
  open(): Promise<Readable>;
  /** Takes what the task makes. */
  write?(bytes: Uint8Array): Promise<void>;
  readonly signal?: AbortSignal;
  /** A pattern may need more time than there is. */
  readonly searchMs?: number;
}

/** A capture that cannot be used in the way that was asked for; `code` is stable. */
export class CaptureFailure extends Error {
  override readonly name = 'CaptureFailure';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const threads = createPlaces(2);
const defaultSearchMs = 10_000;
const maxHeapMb = 1024;

/** Runs a task in a thread of its own, which is ended when it takes too long or nobody waits any more. */
export const runCaptureTask = async <Task extends CaptureTask>(
  task: Task,
  access: CaptureAccess,
): Promise<OutcomeOf<Task>> => {
  const leave = await threads.enter(access.signal);
  const worker = new Worker(new URL('./capture-thread.ts', import.meta.url), {
    workerData: task,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  const feed = new Feed(access);
  try {
    return (await talk(worker, feed, access)) as OutcomeOf<Task>;
  } finally {
    await worker.terminate();
    feed.close();
    leave();
  }
};

const talk = (worker: Worker, feed: Feed, { signal, searchMs = defaultSearchMs }: CaptureAccess) =>
  new Promise<unknown>((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      settle();
    };
    const fail = (error: unknown) => end(() => reject(error));
    const giveUp = () => fail(signal?.reason);
    signal?.addEventListener('abort', giveUp, { once: true });
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'done') end(() => resolve(message.outcome));
      else if (message.kind === 'failed') fail(new CaptureFailure(message.code, message.message));
      else if (message.kind === 'searching') {
        const late = new CaptureFailure('PATTERN_TOO_SLOW', `the patterns need more than ${searchMs} ms`);
        timer = setTimeout(() => fail(late), searchMs);
      } else feed.answer(message).then((reply) => worker.postMessage(reply), fail);
    });
    worker.once('error', (error: NodeJS.ErrnoException) => fail(outOfMemory(error) ?? error));
    worker.once('exit', () => fail(new Error('the capture thread ended without an answer')));
  });

const outOfMemory = ({ code }: NodeJS.ErrnoException) =>
  code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new CaptureFailure('CAPTURE_TOO_LARGE', 'the capture needs more memory than there is: choose fewer sessions')
    : undefined;

/** Hands the capture to the thread, piece by piece and as often as it asks. */
class Feed {
  readonly #access: CaptureAccess;
  #stream: Readable | undefined;
  #chunks: AsyncIterator<Uint8Array> | undefined;

  constructor(access: CaptureAccess) {
    this.#access = access;
  }

  async answer(message: FromThread): Promise<ToThread> {
    if (message.kind === 'write') {
      await this.#access.write?.(message.bytes);
      return null;
    }
    if (message.kind === 'open') {
      this.close();
      this.#stream = await this.#access.open();
      this.#chunks = this.#stream[Symbol.asyncIterator]();
      return null;
    }
    const next = await this.#chunks?.next();
    return next === undefined || next.done ? null : next.value;
  }

  close() {
    this.#stream?.destroy();
  }
}
