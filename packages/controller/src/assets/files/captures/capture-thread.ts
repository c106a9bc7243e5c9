import { Worker } from 'node:worker_threads';
import { PcapError, type PcapErrorCode } from '@rushhour/pcap';
import { invalid, unavailable } from '../../../errors.ts';
import type { Content } from '../content.ts';
import type { CaptureSelection } from './capture-selection.ts';
import type { CaptureAnswer, CaptureRequest } from './capture-worker.ts';

export interface ReadLimits {
  readonly timeoutMs?: number;
  /** Gives up, waiting or reading. */
  readonly signal?: AbortSignal | undefined;
}

export interface CaptureThread {
  /** Reads a capture in the thread, one at a time; without a selection the result is all facts. */
  run<T>(content: Content, selection: CaptureSelection | null, limits?: ReadLimits): Promise<T>;
  close(): Promise<void>;
}

const tooLong = (timeoutMs: number) =>
  invalid(
    [{ path: '', code: 'SEARCH_TOO_LONG', message: `looking into the capture took more than ${timeoutMs / 1000} s` }],
    'SEARCH_TOO_LONG',
  );

/** Started by the first capture; restarted by the next one after a timeout. */
export const createCaptureThread = (): CaptureThread => {
  let worker: Worker | undefined;
  let waiter: PromiseWithResolvers<unknown> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  /** Why the current read was aborted. */
  let failure: Error | undefined;
  let isClosed = false;

  const end = (error: Error) => {
    const ending = worker;
    worker = undefined;
    failure = error;
    waiter?.reject(error);
    waiter = undefined;
    return ending?.terminate();
  };

  const start = () => {
    const started = new Worker(new URL('./capture-worker.ts', import.meta.url), { execArgv: [] });
    started.on('message', (answer: CaptureAnswer) => {
      const asked = waiter;
      waiter = undefined;
      if ('result' in answer) asked?.resolve(answer.result);
      else if (answer.code === '') asked?.reject(new Error(answer.message));
      else asked?.reject(new PcapError(answer.code as PcapErrorCode, answer.message));
    });
    started.on('error', (cause) => worker === started && end(new Error('the capture thread failed', { cause })));
    started.on('exit', () => worker === started && end(new Error('the capture thread ended')));
    // The thread does not keep the process alive; pending requests do.
    started.unref();
    return started;
  };

  const ask = async (request: CaptureRequest, transfer: ArrayBuffer[] = []) => {
    if (failure) throw failure;
    worker ??= start();
    waiter = Promise.withResolvers<unknown>();
    worker.postMessage(request, transfer);
    return waiter.promise;
  };

  const read = async (content: Content, selection: CaptureSelection | null) => {
    if (!isClosed) failure = undefined;
    await ask({ kind: 'begin', selection });
    for await (const chunk of (await content.read(0, content.size)) as AsyncIterable<Buffer>) {
      const bytes = new Uint8Array(chunk);
      await ask({ kind: 'chunk', bytes }, [bytes.buffer]);
    }
    return ask({ kind: 'end' });
  };

  return {
    run: <T>(content: Content, selection: CaptureSelection | null, { timeoutMs, signal }: ReadLimits = {}) => {
      const work = async () => {
        if (signal?.aborted) throw unavailable('ABORTED', 'the client went away');
        const timer = timeoutMs && setTimeout(() => end(tooLong(timeoutMs)), timeoutMs);
        const giveUp = () => void end(unavailable('ABORTED', 'the client went away'));
        signal?.addEventListener('abort', giveUp, { once: true });
        return (await read(content, selection).finally(() => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', giveUp);
        })) as T;
      };
      const result = last.then(work);
      last = result.catch(() => {});
      return result;
    },
    close: async () => {
      isClosed = true;
      await end(new Error('the capture thread was closed'));
    },
  };
};
