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

const aborted = () => unavailable('ABORTED', 'the client went away');

const tooLong = (timeoutMs: number) =>
  invalid(
    [{ path: '', code: 'SEARCH_TOO_LONG', message: `looking into the capture took more than ${timeoutMs / 1000} s` }],
    'SEARCH_TOO_LONG',
  );

/** Reads captures, one at a time. Started by the first capture; restarted by the next one after a timeout. */
export class CaptureThread {
  #worker: Worker | undefined;
  #waiter: PromiseWithResolvers<unknown> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** Why the current read was aborted. */
  #failure: Error | undefined;
  #isClosed = false;

  /** Without a selection the result is all facts. */
  run<T>(content: Content, selection: CaptureSelection | null, { timeoutMs, signal }: ReadLimits = {}): Promise<T> {
    const work = async () => {
      if (signal?.aborted) throw aborted();
      const timer = timeoutMs && setTimeout(() => this.#end(tooLong(timeoutMs)), timeoutMs);
      const giveUp = () => void this.#end(aborted());
      signal?.addEventListener('abort', giveUp, { once: true });
      return (await this.#read(content, selection).finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
      })) as T;
    };
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end(new Error('the capture thread was closed'));
  }

  #end(error: Error): Promise<number> | undefined {
    const ending = this.#worker;
    this.#worker = undefined;
    this.#failure = error;
    this.#waiter?.reject(error);
    this.#waiter = undefined;
    return ending?.terminate();
  }

  #start(): Worker {
    const started = new Worker(new URL('./capture-worker.ts', import.meta.url), { execArgv: [] });
    const fail = (error: Error) => this.#worker === started && this.#end(error);
    started.on('message', (answer: CaptureAnswer) => {
      const asked = this.#waiter;
      this.#waiter = undefined;
      if ('result' in answer) asked?.resolve(answer.result);
      else if (answer.code === '') asked?.reject(new Error(answer.message));
      else asked?.reject(new PcapError(answer.code as PcapErrorCode, answer.message));
    });
    started.on('error', (cause) => fail(new Error('the capture thread failed', { cause })));
    started.on('exit', () => fail(new Error('the capture thread ended')));
    // The thread does not keep the process alive; pending requests do.
    started.unref();
    return started;
  }

  async #ask(request: CaptureRequest, transfer: ArrayBuffer[] = []): Promise<unknown> {
    if (this.#failure) throw this.#failure;
    this.#worker ??= this.#start();
    this.#waiter = Promise.withResolvers<unknown>();
    this.#worker.postMessage(request, transfer);
    return this.#waiter.promise;
  }

  async #read(content: Content, selection: CaptureSelection | null): Promise<unknown> {
    if (!this.#isClosed) this.#failure = undefined;
    await this.#ask({ kind: 'begin', selection });
    for await (const chunk of (await content.read(0, content.size)) as AsyncIterable<Buffer>) {
      const bytes = new Uint8Array(chunk);
      await this.#ask({ kind: 'chunk', bytes }, [bytes.buffer]);
    }
    return this.#ask({ kind: 'end' });
  }
}
