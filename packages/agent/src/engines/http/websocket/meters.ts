import type { Histogram } from '@rushhour/protocol';
import type { Counter, Samples } from '../../../engine.ts';

/** Metrics of WebSockets. Latencies are in microseconds. */
export class MessageMeters {
  readonly sent: Counter;
  readonly received: Counter;
  readonly #samples: Samples;

  constructor(samples: Samples) {
    this.#samples = samples;
    this.sent = samples.counter('http.messagesSent');
    this.received = samples.counter('http.messagesReceived');
  }

  closed(code: number): void {
    this.#samples.counter(`http.closeCode.${code}`).add(1);
  }

  held(): void {
    this.#samples.counter('http.messagesHeld').add(1);
  }
}

/** Those of one target of a client. */
export class ClientMessageMeters extends MessageMeters {
  readonly upgrade: Histogram;
  /** From the time the message was due. */
  readonly latency: Histogram;
  /** From the time it was written. */
  readonly service: Histogram;
  readonly gap: Histogram;
  readonly ping: Histogram;

  constructor(samples: Samples) {
    super(samples);
    this.upgrade = samples.histogram('http.upgrade');
    this.latency = samples.histogram('http.messageLatency');
    this.service = samples.histogram('http.messageService');
    this.gap = samples.histogram('http.messageGap');
    this.ping = samples.histogram('http.ping');
  }
}
