import type { Histogram } from '@rushhour/protocol';
import type { Counter, Gauge, Samples } from '../../engine.ts';
import { countError } from '../../net/metrics/count-error.ts';

/** Client metrics of one target. Times are in microseconds. */
export class TcpMeters {
  readonly attempted: Counter;
  readonly established: Counter;
  readonly failed: Counter;
  readonly closed: Counter;
  readonly active: Gauge;
  readonly txBytes: Counter;
  readonly rxBytes: Counter;
  readonly messages: Counter;
  readonly connect: Histogram;
  /** From the time the connection was due. */
  readonly latency: Histogram;
  readonly echo: Histogram;
  readonly #samples: Samples;

  constructor(samples: Samples) {
    this.#samples = samples;
    this.attempted = samples.counter('tcp.attempted');
    this.established = samples.counter('tcp.established');
    this.failed = samples.counter('tcp.failed');
    this.closed = samples.counter('tcp.closed');
    this.active = samples.gauge('tcp.active');
    this.txBytes = samples.counter('tcp.txBytes');
    this.rxBytes = samples.counter('tcp.rxBytes');
    this.messages = samples.counter('tcp.messages');
    this.connect = samples.histogram('tcp.connect');
    this.latency = samples.histogram('tcp.latency');
    this.echo = samples.histogram('tcp.echo');
  }

  error(code: string): void {
    countError(this.#samples, 'tcp', code);
  }
}
