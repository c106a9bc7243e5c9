import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { createPermits } from '../../../concurrency/semaphore.ts';
import type { AnalyzeJob, AnalyzeOutcome } from './analyze-job.ts';
import type { TrimJob, TrimOutcome } from './trim-job.ts';

/** Work on a capture that runs in a thread, so that it does not block other requests. */
export type CaptureTask =
  | { readonly kind: 'analyze'; readonly job: AnalyzeJob }
  | { readonly kind: 'trim'; readonly job: TrimJob };

type OutcomeOf<Task extends CaptureTask> = Task extends { kind: 'analyze' } ? AnalyzeOutcome : TrimOutcome;

/** Messages of the thread. `open` restarts the capture from its beginning; `pull` and `write` wait for a reply. */
export type FromThread =
  | { readonly kind: 'open' | 'pull' }
  | { readonly kind: 'searching'; readonly bytes: number }
  | { readonly kind: 'write'; readonly bytes: Uint8Array }
  | { readonly kind: 'done'; readonly outcome: unknown }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** The reply: the next bytes, or null at the end of the capture and for `write`. */
export type ToThread = Uint8Array<ArrayBuffer> | null;

export interface CaptureAccess {
  open(): Promise<Readable>;
  /** Takes what the task makes. */
  write?(bytes: Uint8Array): Promise<void>;
  readonly signal?: AbortSignal;
  /** For patterns, besides what the length of the payload allows: some would never end. */
  readonly searchMs?: number;
}

/** A capture that cannot be used in the way that was asked for; `code` is stable. */
export class CaptureFailure extends Error {
  override readonly name = 'CaptureFailure';
  readonly code: string;
  /** The thread reported the failure itself and can take the next task. */
  readonly isAnswer: boolean;

  constructor(code: string, message: string, isAnswer = false) {
    super(message);
    this.code = code;
    this.isAnswer = isAnswer;
  }
}

const threads = createPermits(2);
const defaultSearchMs = 5000;
/** A third of the speed at which a text is found in all its forms. */
const bytesPerMs = 4096;
const maxHeapMb = 1024;

/** Idle threads, kept so that the next task need not wait for a start. */
const idle: Worker[] = [];

const takeThread = () => {
  const worker =
    idle.pop() ??
    new Worker(new URL('./capture-thread.ts', import.meta.url), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
  worker.ref();
  return worker;
};

/** A thread that is free never keeps the process alive. */
const giveBack = (worker: Worker) => {
  for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event);
  worker.once('exit', () => {
    const index = idle.indexOf(worker);
    if (index >= 0) idle.splice(index, 1);
  });
  worker.unref();
  idle.push(worker);
};

/** Runs a task in a thread, which is terminated when it takes too long, fails, or the caller aborts. */
export const runCaptureTask = async <Task extends CaptureTask>(
  task: Task,
  access: CaptureAccess,
): Promise<OutcomeOf<Task>> => {
  const release = await threads.acquire(access.signal);
  const worker = takeThread();
  const feed = new Feed(access);
  try {
    const outcome = await talk(worker, task, { feed, access });
    giveBack(worker);
    return outcome as OutcomeOf<Task>;
  } catch (error) {
    if (error instanceof CaptureFailure && error.isAnswer) giveBack(worker);
    else await worker.terminate();
    throw error;
  } finally {
    feed.close();
    release();
  }
};

const talk = (worker: Worker, task: CaptureTask, { feed, access }: { feed: Feed; access: CaptureAccess }) =>
  new Promise<unknown>((resolve, reject) => {
    const { signal, searchMs = defaultSearchMs } = access;
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
      else if (message.kind === 'failed') fail(new CaptureFailure(message.code, message.message, true));
      else if (message.kind === 'searching') {
        const allowedMs = searchMs + message.bytes / bytesPerMs;
        const late = new CaptureFailure('PATTERN_TOO_SLOW', `the patterns need more than ${Math.ceil(allowedMs)} ms`);
        timer = setTimeout(() => fail(late), allowedMs);
      } else feed.answer(message).then((reply) => worker.postMessage(reply, reply ? [reply.buffer] : []), fail);
    });
    worker.once('error', (error: NodeJS.ErrnoException) => fail(outOfMemory(error) ?? error));
    worker.once('exit', () => fail(new Error('the capture thread ended without an answer')));
    worker.postMessage(task);
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
    // A chunk may be a small part of a large buffer, all of which would be sent.
    return next === undefined || next.done ? null : new Uint8Array(next.value);
  }

  close() {
    this.#stream?.destroy();
  }
}
