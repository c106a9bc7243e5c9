import type { Counter, Gauge, Samples } from '../../engine.ts';
import { countError } from '../../net/metrics/count-error.ts';

/** Everything the answering side counts. */
export class ServerMeters {
  readonly requests: Counter;
  readonly connections: Counter;
  readonly concurrent: Gauge;
  readonly txBytes: Counter;
  readonly rxBytes: Counter;
  readonly #samples: Samples;
  readonly #statuses: Counter[] = [];

  constructor(samples: Samples) {
    this.#samples = samples;
    this.requests = samples.counter('http.served');
    this.connections = samples.counter('http.accepted');
    this.concurrent = samples.gauge('http.concurrent');
    this.txBytes = samples.counter('http.txBytes');
    this.rxBytes = samples.counter('http.rxBytes');
  }

  status(status: number): void {
    this.#statuses[status] ??= this.#samples.counter(`http.status.${status}`);
    this.#statuses[status].add(1);
  }

  error(code: string): void {
    countError(this.#samples, 'http', code);
  }
}
