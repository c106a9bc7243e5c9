import type { Histogram } from '@rushhour/protocol';
import { grpcStatusName } from '@rushhour/wire';
import type { Counter, Samples } from '../../../engine.ts';

/** Metrics of gRPC calls. Latencies are in microseconds. */
export class GrpcMeters {
  readonly sent: Counter;
  readonly received: Counter;
  readonly #samples: Samples;

  constructor(samples: Samples) {
    this.#samples = samples;
    this.sent = samples.counter('http.messagesSent');
    this.received = samples.counter('http.messagesReceived');
  }

  ended(status: number): void {
    this.#samples.counter(`http.grpcStatus.${grpcStatusName(status)}`).add(1);
  }
}

/** Those of one target of a client. */
export class GrpcClientMeters extends GrpcMeters {
  readonly latency: Histogram;
  readonly gap: Histogram;

  constructor(samples: Samples) {
    super(samples);
    this.latency = samples.histogram('http.messageLatency');
    this.gap = samples.histogram('http.messageGap');
  }
}
