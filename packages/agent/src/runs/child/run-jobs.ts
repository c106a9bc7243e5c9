import type { LoadChange, Order } from '@rushhour/protocol';
import type { Engine, Host } from '../../engine.ts';
import { CannotPause, type Outcome, RunningOrder } from '../job/running-job.ts';
import type { FromChild, Problem } from './child-messages.ts';

export interface RunOrdersDeps {
  readonly engines: ReadonlyMap<string, Engine>;
  readonly host: Host;
  readonly report: (message: FromChild) => void;
}

interface Part {
  readonly order: Order;
  readonly running: RunningOrder;
  readonly stop: AbortController;
  readonly abort: AbortController;
  isReady: boolean;
  outcome?: Outcome;
}

const problemOf = ({ code, error }: Outcome, order: number): Problem => ({
  order,
  code: code ?? 'PREPARE_FAILED',
  message: error ?? 'could not be prepared',
});

/** All orders of one run: prepared together, begun at one time, ended each by itself. */
export class RunOrders {
  readonly #deps: RunOrdersDeps;
  readonly #start = Promise.withResolvers<number>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #parts: Part[];
  #isPrepared = false;
  #isPaused = false;
  #isStarted = false;

  constructor(orders: readonly Order[], deps: RunOrdersDeps) {
    this.#deps = deps;
    this.#parts = orders.map((order, index) => this.#begin(order, index));
    this.#parts.forEach((part, index) => {
      void part.running.outcome.then((outcome) => this.#settle(part, index, outcome));
    });
    if (orders.length === 0) this.#checkPrepared();
  }

  /** Resolves when every order has ended and was reported. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  start(at: number): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#start.resolve(at);
    const timer = setTimeout(() => this.#deps.report({ type: 'started', at: Date.now() }), at - Date.now());
    void this.ended.then(() => clearTimeout(timer));
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#tellAll((running) => running.pause());
    this.#deps.report({ type: 'event', kind: 'paused', severity: 'info', message: 'sending has ceased' });
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#tellAll((running) => running.resume());
    this.#deps.report({ type: 'event', kind: 'resumed', severity: 'info', message: 'sending goes on' });
  }

  changeLoad(order: number, change: LoadChange): void {
    const rejected = this.#tryChange(order, change);
    const asked = Object.entries(change).map(([name, value]) => `${name} ${value}`);
    this.#deps.report(
      rejected === undefined
        ? { type: 'event', kind: 'loadChanged', severity: 'info', message: asked.join(', '), order }
        : { type: 'event', kind: 'loadRejected', severity: 'warning', message: rejected, order },
    );
  }

  stop(mode: 'graceful' | 'abort', orders: readonly number[] = this.#parts.keys().toArray()): void {
    for (const index of orders) {
      this.#parts[index]?.stop.abort();
      if (mode === 'abort') this.#parts[index]?.abort.abort();
    }
  }

  #begin(order: Order, index: number): Part {
    const stop = new AbortController();
    const abort = new AbortController();
    const running = new RunningOrder(order, {
      ...this.#deps,
      stop: stop.signal,
      abort: abort.signal,
      barrier: async () => {
        (this.#parts[index] as Part).isReady = true;
        this.#checkPrepared();
        return (await this.#start.promise) + (order.startAfterSec ?? 0) * 1000;
      },
      onSummary: (summary) => {
        this.#deps.report({ type: 'summary', order: index, summary });
        // The agent keeps it from here on.
        running.sampler.acknowledge(summary.seq);
      },
      onProgress: (message) =>
        this.#deps.report({ type: 'event', kind: 'progress', severity: 'info', message, order: index }),
    });
    return { order, running, stop, abort, isReady: false };
  }

  /** When all orders are ready the run is; when one has failed, the others are given up. */
  #checkPrepared(): void {
    if (this.#isPrepared || !this.#parts.every(({ isReady, outcome }) => isReady || outcome !== undefined)) return;
    this.#isPrepared = true;
    const problems = this.#parts.flatMap(({ outcome }, index) =>
      outcome?.status === 'failed' ? [problemOf(outcome, index)] : [],
    );
    const hasEnded = this.#parts.some(({ outcome }) => outcome !== undefined);
    if (problems.length > 0) this.#deps.report({ type: 'prepareFailed', problems });
    else if (!hasEnded) this.#deps.report({ type: 'prepared' });
    if (hasEnded) this.stop('abort');
    this.#parts.forEach(({ outcome }, order) => {
      if (outcome !== undefined) this.#deps.report({ type: 'orderEnded', order, outcome });
    });
    this.#checkEnded();
  }

  #settle(part: Part, order: number, outcome: Outcome): void {
    part.outcome = outcome;
    if (this.#isPrepared) {
      this.#deps.report({ type: 'orderEnded', order, outcome });
      this.#checkEnded();
    } else this.#checkPrepared();
  }

  #checkEnded(): void {
    if (this.#parts.every(({ outcome }) => outcome !== undefined)) this.#ended.resolve();
  }

  /** Orders that have ended need not be told; servers only answer and have nothing to pause. */
  #tellAll(tell: (running: RunningOrder) => void): void {
    this.#parts.forEach(({ running, outcome, order: { config } }, order) => {
      if (outcome !== undefined) return;
      try {
        tell(running);
      } catch (error) {
        // One that is just ending needs not be told either.
        if (!(error instanceof CannotPause) || (config as { role?: string }).role !== 'client') return;
        this.#deps.report({ type: 'event', kind: 'pauseRefused', severity: 'warning', message: error.message, order });
      }
    });
  }

  #tryChange(order: number, change: LoadChange): string | undefined {
    try {
      const running = this.#parts[order]?.running;
      return running === undefined ? `there is no order ${order}` : running.changeLoad(change).rejected;
    } catch (error) {
      return (error as Error).message;
    }
  }
}
