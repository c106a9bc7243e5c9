import { Worker } from 'node:worker_threads';
import type { Duration, HostStack, ResultRow, ResultTable } from '@rushhour/protocol';
import type {
  Divisible,
  Engine,
  EngineContext,
  EngineRecord,
  Host,
  LoadChange,
  LoadChangeable,
  Pausable,
  PreparedEngine,
} from '../../engine.ts';
import { shareOf } from '../../net/load/share.ts';
import type { Metric, SampleStore } from '../../samples.ts';
import { type StackShare, shareKindOf } from '../../stack/ports/stack-share.ts';

/** Input of a worker thread. */
export interface CoreWork {
  readonly engine: string;
  readonly config: unknown;
  readonly duration: Duration;
  readonly host: Host;
  readonly core: { readonly index: number; readonly count: number };
  readonly addresses: ReadonlyMap<string, string>;
  readonly targetNames: SampleStore['targetNames'];
  /** The emulated hosts of the job and what the worker has of them. */
  readonly hosts?: { readonly stack: HostStack; readonly share: StackShare } | undefined;
}

export type CoreCommand = 'start' | 'abort' | 'close' | 'pause' | 'resume' | { readonly changeLoad: LoadChange };

export type CoreReport =
  | { readonly kind: 'metric'; readonly metric: Metric }
  | { readonly kind: 'note'; readonly remark: string }
  | { readonly kind: 'record'; readonly record: EngineRecord }
  | { readonly kind: 'row'; readonly table: ResultTable; readonly row: ResultRow }
  | { readonly kind: 'progress'; readonly message: string }
  | { readonly kind: 'prepared' | 'done' | 'closed' };

/** A worker thread with its share of the load. */
class Core {
  readonly #worker: Worker;
  readonly #waiting = new Map<string, () => void>();
  #fail: (error: Error) => void = () => {};
  /** Rejects if the thread fails; never resolves. */
  readonly broken: Promise<never>;

  constructor(work: CoreWork, onReport: (report: CoreReport) => void) {
    this.broken = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.broken.catch(() => {});
    this.#worker = new Worker(new URL('./core-worker.ts', import.meta.url), { workerData: work });
    this.#worker.on('error', (error) => this.#fail(error as Error));
    this.#worker.on('exit', (code) => this.#fail(new Error(`a worker ended with ${code}`)));
    this.#worker.on('message', (report: CoreReport) => {
      onReport(report);
      this.#waiting.get(report.kind)?.();
    });
  }

  send(command: CoreCommand): void {
    this.#worker.postMessage(command);
  }

  async until(kind: CoreReport['kind']): Promise<void> {
    await Promise.race([new Promise<void>((resolve) => this.#waiting.set(kind, resolve)), this.broken]);
  }

  async close(): Promise<void> {
    this.send('close');
    await this.until('closed').catch(() => {});
    await this.#worker.terminate();
  }
}

const changeShare = (change: LoadChange, count: number): LoadChange =>
  Object.fromEntries(Object.entries(change).map(([name, value]) => [name, (value as number) / count]));

/** Runs an engine on several cores: worker threads generate traffic, their counters are in shared memory. */
export const prepareOnCores = async (
  engine: Engine & Divisible,
  deps: {
    context: EngineContext<unknown>;
    cores: number;
    addresses: ReadonlyMap<string, string>;
    store: SampleStore;
    stack: HostStack | undefined;
  },
): Promise<PreparedEngine & Pausable & LoadChangeable> => {
  const { context, cores: count, addresses, store, stack } = deps;
  const { targetNames } = store;
  const by = shareKindOf(context.config);
  const cores = Array.from({ length: count }, (_, index) => {
    const duration = { ...context.duration, count: shareOf(context.duration.count, index, count) };
    const work = { engine: engine.id, duration, host: context.host, core: { index, count }, addresses, targetNames };
    const config = engine.divide(context.config, index, count);
    const hosts = stack && { stack, share: { index, count, by } };
    return new Core({ ...work, config, hosts }, (report) => {
      if (report.kind === 'metric') store.adopt(report.metric);
      if (report.kind === 'note') context.note(report.remark);
      if (report.kind === 'record') context.record(report.record);
      if (report.kind === 'row') context.putRow(report.table, report.row);
      if (report.kind === 'progress') context.progress(report.message);
    });
  });
  const closeAll = () => Promise.all(cores.map((core) => core.close()));
  context.signal.addEventListener('abort', () => {
    for (const core of cores) core.send('abort');
  });
  await Promise.all(cores.map((core) => core.until('prepared'))).catch(async (error) => {
    await closeAll();
    throw error;
  });
  const broadcast = (command: CoreCommand) => {
    for (const core of cores) core.send(command);
  };
  return {
    async start() {
      broadcast('start');
      await Promise.all(cores.map((core) => core.until('done')));
    },
    pause: () => broadcast('pause'),
    resume: () => broadcast('resume'),
    changeLoad(change) {
      broadcast({ changeLoad: changeShare(change, count) });
      return {};
    },
    async close() {
      await closeAll();
    },
  };
};
