import type { Histogram } from '@rushhour/protocol';
import type { Counter, Gauge, Samples } from '../../engine.ts';
import { countError } from '../../net/metrics/count-error.ts';

/** Client metrics of one target. */
export class ApplicationMeters {
  readonly ok: Counter;
  readonly ko: Counter;
  readonly exchanges: Counter;
  readonly users: Gauge;
  readonly txBytes: Counter;
  readonly rxBytes: Counter;
  /** From the last byte sent to the last byte of the response, in microseconds. */
  readonly exchange: Histogram;
  readonly #samples: Samples;

  constructor(samples: Samples) {
    this.#samples = samples;
    this.ok = samples.counter('application.ok');
    this.ko = samples.counter('application.ko');
    this.exchanges = samples.counter('application.exchanges');
    this.users = samples.gauge('application.users');
    this.txBytes = samples.counter('application.txBytes');
    this.rxBytes = samples.counter('application.rxBytes');
    this.exchange = samples.histogram('application.exchange');
  }

  fail(kind: string): void {
    countError(this.#samples, 'application', kind);
  }
}
