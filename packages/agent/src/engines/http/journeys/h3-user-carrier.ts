import { performance } from 'node:perf_hooks';
import { type H3Events, type Header, h3Error } from '@rushhour/wire';
import { H3Carrier } from '../../../net/quic/h3-carrier.ts';
import type { QuicConnection, QuicConnectionEvents, QuicStream } from '../../../net/quic/quic.ts';
import type { QuicClient } from '../../../net/quic/quic-client.ts';
import type { ResponseField } from '../response-parser.ts';
import type { Carrier, CarrierContext } from './carrier.ts';
import type { Exchange } from './exchange.ts';
import { headersText } from './headers-text.ts';
import type { JourneyTarget } from './step-request.ts';

/** So many streams every server is expected to allow. */
const maxStreams = 100;

interface Stream {
  readonly exchange: Exchange;
  status: number;
  fields: ResponseField[];
}

export interface QuicCarrierContext extends CarrierContext {
  readonly quic: QuicClient;
}

/** HTTP/3: one connection at a time, with a stream for each exchange. */
export class H3UserCarrier implements Carrier, QuicConnectionEvents, H3Events {
  readonly maxExchanges = maxStreams;
  readonly #context: QuicCarrierContext;
  readonly #maxRequests: number;
  readonly #streams = new Map<number, Stream>();
  /** Exchanges that wait for a connection or for a stream. */
  #waiting: Exchange[] = [];
  #target!: JourneyTarget;
  #connection: QuicConnection | undefined;
  #carrier: H3Carrier | undefined;
  #sent = 0;
  #connectAt = 0;
  #now = 0;
  #isClosing = false;
  #isRetiring = false;
  #isAbandoned = false;
  /** The server takes no more requests on this connection, or has had as many as allowed. */
  #isUsedUp = false;
  #failure: string | undefined;

  constructor(context: QuicCarrierContext) {
    this.#context = context;
    const { keepAlive } = context.config;
    this.#maxRequests = keepAlive.enabled ? keepAlive.maxRequests || Number.POSITIVE_INFINITY : 1;
  }

  send(exchange: Exchange, now: number): void {
    this.#waiting.push(exchange);
    if (this.#connection === undefined) this.#connect();
    else this.#sendWaiting(now);
  }

  sweep(now: number): void {
    if (this.#connection === undefined || this.#isClosing) return;
    const { timeoutMs } = this.#context.config;
    const [first] = this.#waiting;
    if (this.#carrier === undefined && first !== undefined && now - first.startedAt > timeoutMs) {
      for (const exchange of this.#waiting) exchange.recordTimes(now);
      this.#fail('connectTimeout');
      return;
    }
    for (const [id, { exchange }] of this.#streams) {
      if (now - exchange.startedAt <= timeoutMs) continue;
      exchange.recordTimes(now);
      this.#carrier?.h3.reset(id, h3Error.requestCancelled);
      this.#failStream(id, 'timeout', now);
    }
  }

  retire(): void {
    this.#isRetiring = true;
    this.#closeIfDone();
  }

  abandon(): void {
    if (this.#connection === undefined) return;
    if (this.#streams.size > 0) this.#target.meters.unanswered(this.#streams.size);
    this.#streams.clear();
    this.#waiting = [];
    this.#isAbandoned = true;
    this.#isClosing = true;
    this.#connection.close(h3Error.none);
  }

  onOpen(now: number): void {
    this.#now = now;
    if (this.#isClosing) return;
    const { meters } = this.#target;
    const connection = this.#connection as QuicConnection;
    meters.quicHandshake((now - this.#connectAt) * 1000);
    if (connection.handshake().isResumed) meters.resumed();
    const onFail = () => {
      this.#failure ??= 'protocol';
    };
    this.#carrier = new H3Carrier(connection, { isServer: false, events: this, onFail });
    this.#carrier.h3.start();
    meters.connections.add(1);
    this.#sendWaiting(now);
    this.#closeIfDone();
  }

  onStream(stream: QuicStream) {
    return (this.#carrier as H3Carrier).accept(stream);
  }

  onRoom(now: number): void {
    this.#sendWaiting(now);
  }

  onRead(now: number): void {
    this.#now = now;
  }

  onBytes(direction: 'sent' | 'received', count: number): void {
    const { meters } = this.#target;
    (direction === 'sent' ? meters.txBytes : meters.rxBytes).add(count);
  }

  onHeaders(id: number, headers: readonly Header[], isEnd: boolean): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    stream.status = Number(headers.find(([name]) => name === ':status')?.[1] ?? 0);
    stream.fields = headers.map(([name, value]) => ({ name, value }));
    this.#target.meters.ttfb.record((this.#now - stream.exchange.sentAt) * 1000);
    if (isEnd) this.#end(id);
  }

  onBody(id: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void {
    this.#streams.get(id)?.exchange.onBody(bytes, start, end);
    if (isEnd) this.#end(id);
  }

  onReset(id: number, code: number): void {
    this.#failStream(id, code === h3Error.requestRejected ? 'refusedStream' : 'reset', this.#now);
  }

  onGoaway(): void {
    this.#isUsedUp = true;
    this.#closeIfDone();
  }

  onClose(code: string | undefined, now: number): void {
    this.#now = now;
    const failure = this.#failure ?? code ?? 'closed';
    const wasOpen = this.#carrier !== undefined;
    const lost = [...this.#streams.values()].map(({ exchange }) => exchange);
    // Exchanges that waited while the connection was being closed get another one.
    const failed = wasOpen || this.#isAbandoned ? lost : [...lost, ...this.#waiting.splice(0)];
    this.#streams.clear();
    this.#connection = undefined;
    this.#carrier = undefined;
    this.#context.onClosed(now);
    for (const exchange of failed) {
      this.#target.meters.error(failure);
      exchange.owner.onFailure(exchange, failure, now);
    }
    if (this.#waiting.length > 0 && this.#connection === undefined) this.#connect();
  }

  #connect(): void {
    const { chooseTarget, routeTo, index, quic, onConnecting } = this.#context;
    this.#target = chooseTarget(index);
    this.#sent = 0;
    this.#isClosing = false;
    this.#isUsedUp = false;
    this.#failure = undefined;
    this.#connectAt = performance.now();
    onConnecting();
    this.#connection = quic.connect(routeTo(this.#target, index), this);
  }

  #sendWaiting(now: number): void {
    const carrier = this.#carrier;
    if (carrier === undefined || this.#isClosing) return;
    while (this.#waiting.length > 0 && !this.#isUsedUp) {
      const id = carrier.openRequest();
      // The server allows another stream later.
      if (id < 0) return;
      this.#request(carrier, id, { exchange: this.#waiting.shift() as Exchange, now });
    }
  }

  #request(carrier: H3Carrier, id: number, { exchange, now }: { exchange: Exchange; now: number }): void {
    const { request, owner } = exchange;
    const body = request.bodyOf(owner.values);
    const cookie = owner.cookieFor(request, this.#target);
    const headers = request.h2Headers(this.#target, owner.values, { cookie, length: body?.length });
    if (exchange.isTraced) exchange.trace(headersText(headers, body));
    this.#sent++;
    this.#isUsedUp ||= this.#sent >= this.#maxRequests;
    exchange.onSent(this.#target, 0, now);
    this.#streams.set(id, { exchange, status: 0, fields: [] });
    carrier.h3.request(id, headers, body);
  }

  #take(id: number): Stream | undefined {
    const stream = this.#streams.get(id);
    if (stream === undefined) return undefined;
    this.#streams.delete(id);
    this.#carrier?.forget(id);
    return stream;
  }

  #end(id: number): void {
    const stream = this.#take(id);
    this.#closeIfDone();
    stream?.exchange.onEnd(stream.status, stream.fields, this.#now);
  }

  #failStream(id: number, kind: string, now: number): void {
    const stream = this.#take(id);
    if (stream === undefined) return;
    this.#target.meters.error(kind);
    this.#closeIfDone();
    stream.exchange.owner.onFailure(stream.exchange, kind, now);
  }

  #closeIfDone(): void {
    const isOver = this.#isUsedUp || (this.#isRetiring && this.#waiting.length === 0);
    if (!isOver || this.#streams.size > 0 || this.#isClosing || this.#connection === undefined) return;
    this.#isClosing = true;
    this.#connection.close(h3Error.none);
  }

  #fail(kind: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = kind;
    this.#isClosing = true;
    this.#connection?.close(h3Error.none);
  }
}
