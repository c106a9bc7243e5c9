import { setImmediate as nextEventLoop } from 'node:timers/promises';
import { parentPort, Worker } from 'node:worker_threads';
import { StorageUnavailable } from '../../store/engine/database.ts';
import type { StoreLocation } from '../../store/store.ts';
import type { RunReader } from './run-reader.ts';
import { UnknownMetric } from './unknown-metric.ts';

type Reading = Exclude<keyof RunReader, never>;

interface Question {
  readonly id: number;
  readonly reading: Reading;
  readonly values: readonly unknown[];
}

interface Problem {
  readonly name: string;
  readonly message: string;
  readonly metrics?: readonly string[];
  readonly known?: readonly string[];
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  /** Part of a long answer: entries of a map. The last part comes with `result`. */
  readonly entries?: readonly (readonly [unknown, unknown])[];
  readonly problem?: Problem;
}

/** Taking over so many entries takes milliseconds. */
const entriesAtOnce = 32;

/** A long map goes entry by entry: others are answered in between. */
function* partsOf({ id, result, problem }: Answer): Generator<Answer> {
  if (!(result instanceof Map)) return yield { id, result, ...(problem && { problem }) };
  const entries = [...result];
  for (let at = 0; at < entries.length; at += entriesAtOnce)
    yield { id, entries: entries.slice(at, at + entriesAtOnce) };
  yield { id, result: new Map() };
}

const problemOf = (error: unknown): Problem => {
  const { name, message } = error as Error;
  return error instanceof UnknownMetric
    ? { name, message, metrics: error.metrics, known: error.known }
    : { name, message };
};

const errorOf = ({ name, message, metrics = [], known = [] }: Problem): Error => {
  if (name === 'UnknownMetric') return new UnknownMetric(metrics, known);
  return name === 'StorageUnavailable' ? new StorageUnavailable(message) : new Error(message);
};

/** A thread without work is ended after this time. */
const idleMs = 60_000;

/** Reads of long runs in a thread of its own, which begins with the first of them: others are answered meanwhile. */
export class ReadThread {
  readonly #location: StoreLocation;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown> & { entries: (readonly [unknown, unknown])[] }>();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;

  constructor(location: StoreLocation) {
    this.#location = location;
  }

  ask<R extends Reading>(reading: R, ...values: Parameters<RunReader[R]>): ReturnType<RunReader[R]> {
    clearTimeout(this.#idle);
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { ...answer, entries: [] });
    this.#started().postMessage({ id, reading, values } satisfies Question);
    return answer.promise as ReturnType<RunReader[R]>;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#worker?.terminate();
  }

  /** The next question starts another thread. */
  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL('./read-worker.ts', import.meta.url), {
      workerData: this.#location,
      execArgv: [],
    });
    worker.on('message', (answer: Answer) => this.#settle(answer));
    worker.on('error', (error) => this.#giveUp(worker, error));
    worker.on('exit', () => this.#giveUp(worker, new Error('the thread that reads measurements has ended')));
    this.#worker = worker;
    return worker;
  }

  #settle({ id, result, entries, problem }: Answer): void {
    const answer = this.#waiting.get(id);
    if (entries !== undefined) {
      answer?.entries.push(...entries);
      return;
    }
    this.#waiting.delete(id);
    if (problem !== undefined) answer?.reject(errorOf(problem));
    else answer?.resolve(result instanceof Map ? new Map(answer.entries) : result);
    if (this.#waiting.size === 0) this.#idle = setTimeout(() => void this.#end(), idleMs).unref();
  }

  #giveUp(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** The other end: answers each question as soon as it can, several at a time. */
export const serveReading = (reader: RunReader): void => {
  const answer = async ({ id, reading, values }: Question): Promise<Answer> => {
    try {
      const read = reader[reading].bind(reader) as (...values: readonly unknown[]) => Promise<unknown>;
      return { id, result: await read(...values) };
    } catch (error) {
      return { id, problem: problemOf(error) };
    }
  };
  parentPort?.on('message', (question: Question) => {
    void answer(question).then(async (found) => {
      for (const part of partsOf(found)) {
        parentPort?.postMessage(part);
        await nextEventLoop();
      }
    });
  });
};
