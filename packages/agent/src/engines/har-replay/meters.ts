import type { Histogram } from '@rushhour/protocol';
import type { Counter, Gauge, Samples } from '../../engine.ts';
import { countError } from '../../net/metrics/count-error.ts';

/** Client metrics of users and connections. Times are in microseconds. */
export class ReplayMeters {
  readonly users: Gauge;
  readonly pages: Counter;
  readonly iterations: Counter;
  readonly cached: Counter;
  readonly notFound: Counter;
  readonly connections: Counter;
  readonly txBytes: Counter;
  readonly rxBytes: Counter;
  readonly page: Histogram;

  constructor(samples: Samples) {
    this.users = samples.gauge('har-replay.users');
    this.pages = samples.counter('har-replay.pages');
    this.iterations = samples.counter('har-replay.iterations');
    this.cached = samples.counter('har-replay.cached');
    this.notFound = samples.counter('har-replay.notFound');
    this.connections = samples.counter('har-replay.connections');
    this.txBytes = samples.counter('har-replay.txBytes');
    this.rxBytes = samples.counter('har-replay.rxBytes');
    this.page = samples.histogram('har-replay.page');
  }
}

/** Client metrics of one recorded host. */
export class HostMeters {
  readonly requests: Counter;
  readonly #ok: Counter;
  readonly #ko: Counter;
  readonly #entry: Histogram;
  readonly #delta: Histogram;
  readonly #samples: Samples;
  readonly #statuses = new Map<number, Counter>();
  readonly #koStatuses = new Map<number, Counter>();

  constructor(samples: Samples) {
    this.#samples = samples;
    this.requests = samples.counter('har-replay.requests');
    this.#ok = samples.counter('har-replay.ok');
    this.#ko = samples.counter('har-replay.ko');
    this.#entry = samples.histogram('har-replay.entry');
    this.#delta = samples.histogram('har-replay.delta');
  }

  took(ms: number, recordedMs: number): void {
    this.#entry.record(ms * 1000);
    this.#delta.record(Math.max(0, ms - recordedMs) * 1000);
  }

  answered(status: number, isOk: boolean): void {
    countIn(this.#statuses, status, () => this.#samples.counter(`har-replay.status.${status}`));
    (isOk ? this.#ok : this.#ko).add(1);
    if (!isOk) countIn(this.#koStatuses, status, () => this.#samples.counter(`har-replay.koStatus.${status}`));
  }

  error(code: string): void {
    countError(this.#samples, 'har-replay', code);
  }
}

const countIn = (counters: Map<number, Counter>, status: number, create: () => Counter): void => {
  const counter = counters.get(status) ?? create();
  counters.set(status, counter);
  counter.add(1);
};
