import type { Histogram } from '@rushhour/protocol';
import type { Counter, Gauge, Samples } from '../../engine.ts';
import { countError } from '../../net/metrics/count-error.ts';
import type { PacketMeters } from '../../net/quic/packet-observer.ts';
import { packetMeters } from '../../net/quic/quic-meters.ts';

/** At the end of a client, answers and connections that have been waited for for less may have been about to come. */
const minWaitMs = 1000;

/** Server metrics. */
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

/** Client metrics of one target. Latencies are in microseconds. */
export class HttpMeters {
  readonly requests: Counter;
  readonly responses: Counter;
  readonly ok: Counter;
  readonly ko: Counter;
  readonly txBytes: Counter;
  readonly rxBytes: Counter;
  readonly connections: Counter;
  /** From the time the request was due. */
  readonly latency: Histogram;
  /** From the time it was written. */
  readonly service: Histogram;
  readonly ttfb: Histogram;
  readonly connect: Histogram;
  readonly tls: Histogram;
  readonly #samples: Samples;
  readonly #statuses: Counter[] = [];

  constructor(samples: Samples) {
    this.#samples = samples;
    this.requests = samples.counter('http.requests');
    this.responses = samples.counter('http.responses');
    this.ok = samples.counter('http.ok');
    this.ko = samples.counter('http.ko');
    this.txBytes = samples.counter('http.txBytes');
    this.rxBytes = samples.counter('http.rxBytes');
    this.connections = samples.counter('http.connections');
    this.latency = samples.histogram('http.latency');
    this.service = samples.histogram('http.service');
    this.ttfb = samples.histogram('http.ttfb');
    this.connect = samples.histogram('http.connect');
    this.tls = samples.histogram('http.tls');
  }

  status(status: number): void {
    let counter = this.#statuses[status];
    if (counter === undefined) {
      counter = this.#samples.counter(`http.status.${status}`);
      this.#statuses[status] = counter;
    }
    counter.add(1);
  }

  error(code: string, count = 1): void {
    countError(this.#samples, 'http', code, count);
  }

  /** Counts a resumed TLS session; the metric exists only where sessions are resumed. */
  resumed(): void {
    this.#samples.counter('http.resumed').add(1);
  }

  /** The metrics of QUIC exist only with HTTP/3. */
  quicHandshake(microseconds: number): void {
    this.#samples.histogram('http.quicHandshake').record(microseconds);
  }

  packets(): PacketMeters {
    return packetMeters(this.#samples, 'http');
  }

  unanswered(count: number): void {
    this.#samples.counter('http.unanswered').add(count);
  }

  /** A request without an answer at the end counts with the time it has waited, like one that times out. */
  waited({ intended, sentAt }: { readonly intended: number; readonly sentAt: number }, now: number): void {
    if (!(now - sentAt >= minWaitMs)) return;
    this.latency.record((now - intended) * 1000);
    this.service.record((now - sentAt) * 1000);
  }

  /** A connection that is not open at the end has failed if it had the time to open. */
  unopened({ intended, connectAt }: { readonly intended: number; readonly connectAt: number }, now: number): void {
    if (now - connectAt < minWaitMs) return;
    if (!Number.isNaN(intended)) this.latency.record((now - intended) * 1000);
    this.error('connectTimeout');
  }
}
