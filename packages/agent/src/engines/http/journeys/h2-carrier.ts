import { performance } from 'node:perf_hooks';
import { H2Connection, type H2Events, type Header, h2Error } from '@rushhour/wire';
import type { Chunk, Connection, ConnectionEvents } from '../../../net/transport/transport.ts';
import type { ResponseField } from '../response-parser.ts';
import type { Carrier, TcpCarrierContext } from './carrier.ts';
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

/** HTTP/2: one connection at a time, with a stream for each exchange. */
export class H2Carrier implements Carrier, ConnectionEvents, H2Events {
  readonly maxExchanges = maxStreams;
  readonly #context: TcpCarrierContext;
  readonly #maxRequests: number;
  readonly #streams = new Map<number, Stream>();
  /** Exchanges that wait for a connection. */
  #waiting: Exchange[] = [];
  #target!: JourneyTarget;
  #connection: Connection | undefined;
  #h2: H2Connection | undefined;
  #sent = 0;
  #connectAt = 0;
  #connectedAt = 0;
  #now = 0;
  #isClosing = false;
  #isRetiring = false;
  #isAbandoned = false;
  /** The server takes no more requests on this connection, or has had as many as allowed. */
  #isUsedUp = false;
  #isBatching = false;
  #failure: string | undefined;

  constructor(context: TcpCarrierContext) {
    this.#context = context;
    const { keepAlive } = context.config;
    this.#maxRequests = keepAlive.enabled ? keepAlive.maxRequests || Number.POSITIVE_INFINITY : 1;
  }

  send(exchange: Exchange, now: number): void {
    const isOpen = this.#h2 !== undefined && !this.#isClosing && !this.#isUsedUp;
    if (isOpen) this.#request(exchange, now);
    else {
      this.#waiting.push(exchange);
      if (this.#connection === undefined) this.#connect();
    }
  }

  sweep(now: number): void {
    if (this.#connection === undefined || this.#isClosing) return;
    const { timeoutMs } = this.#context.config;
    const [first] = this.#waiting;
    if (this.#h2 === undefined && first !== undefined && now - first.startedAt > timeoutMs) {
      for (const exchange of this.#waiting) exchange.recordTimes(now);
      this.#fail('connectTimeout');
      return;
    }
    for (const [id, { exchange }] of this.#streams) {
      if (now - exchange.startedAt <= timeoutMs) continue;
      exchange.recordTimes(now);
      this.#h2?.reset(id, h2Error.cancel);
      this.#failStream(id, 'timeout', now);
    }
    this.#h2?.flush();
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
    this.#connection.reset();
  }

  onConnect(): void {
    this.#connectedAt = performance.now();
    this.#target.meters.connect.record((this.#connectedAt - this.#connectAt) * 1000);
  }

  onResume(): void {
    this.#target.meters.resumed();
  }

  onOpen(now: number): void {
    this.#now = now;
    if (this.#isClosing) return;
    const { meters } = this.#target;
    const connection = this.#connection as Connection;
    if (this.#context.config.tls === undefined) meters.connect.record((now - this.#connectAt) * 1000);
    else {
      meters.tls.record((now - this.#connectedAt) * 1000);
      if (connection.handshake?.().alpn !== 'h2') {
        this.#fail('alpn');
        return;
      }
    }
    const write = (bytes: Uint8Array): void => {
      meters.txBytes.add(bytes.length);
      connection.writeCopy(bytes);
    };
    this.#h2 = new H2Connection({ isServer: false, write }, this);
    this.#h2.start();
    meters.connections.add(1);
    this.#batch(() => this.#sendWaiting(now));
    this.#closeIfDone();
  }

  onData({ bytes, start, end, now }: Chunk): void {
    this.#now = now;
    this.#target.meters.rxBytes.add(end - start);
    this.#batch(() => {
      if (this.#h2?.feed(bytes, start, end) !== undefined) this.#fail('protocol');
    });
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
    this.#failStream(id, code === h2Error.refusedStream ? 'refusedStream' : 'reset', this.#now);
  }

  onGoaway(): void {
    this.#isUsedUp = true;
    this.#closeIfDone();
  }

  onClose(code: string | undefined, now: number): void {
    this.#now = now;
    const failure = this.#failure ?? code ?? 'closed';
    const wasOpen = this.#h2 !== undefined;
    const lost = [...this.#streams.values()].map(({ exchange }) => exchange);
    // Exchanges that waited while the connection was being closed get another one.
    const failed = wasOpen || this.#isAbandoned ? lost : [...lost, ...this.#waiting.splice(0)];
    this.#streams.clear();
    this.#connection = undefined;
    this.#h2 = undefined;
    this.#context.onClosed(now);
    for (const exchange of failed) {
      this.#target.meters.error(failure);
      exchange.owner.onFailure(exchange, failure, now);
    }
    if (this.#waiting.length > 0 && this.#connection === undefined) this.#connect();
  }

  #connect(): void {
    const { chooseTarget, routeTo, index, transport, onConnecting } = this.#context;
    this.#target = chooseTarget(index);
    this.#sent = 0;
    this.#isClosing = false;
    this.#isUsedUp = false;
    this.#failure = undefined;
    this.#connectAt = performance.now();
    this.#connectedAt = this.#connectAt;
    onConnecting();
    this.#connection = transport.connect(routeTo(this.#target, index), this);
  }

  #sendWaiting(now: number): void {
    while (this.#waiting.length > 0 && !this.#isUsedUp) this.#request(this.#waiting.shift() as Exchange, now);
  }

  #request(exchange: Exchange, now: number): void {
    const { request, owner } = exchange;
    const body = request.bodyOf(owner.values);
    const cookie = owner.cookieFor(request, this.#target);
    const headers = request.h2Headers(this.#target, owner.values, { cookie, length: body?.length });
    const h2 = this.#h2 as H2Connection;
    if (exchange.isTraced) exchange.trace(headersText(headers, body));
    this.#sent++;
    this.#isUsedUp ||= this.#sent >= this.#maxRequests;
    exchange.onSent(this.#target, 0, now);
    this.#streams.set(h2.request(headers, body), { exchange, status: 0, fields: [] });
    if (!this.#isBatching) h2.flush();
  }

  /** Frames are collected and sent together. */
  #batch(work: () => void): void {
    this.#isBatching = true;
    work();
    this.#isBatching = false;
    this.#h2?.flush();
  }

  #end(id: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#streams.delete(id);
    this.#closeIfDone();
    stream.exchange.onEnd(stream.status, stream.fields, this.#now);
  }

  #failStream(id: number, kind: string, now: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#streams.delete(id);
    this.#target.meters.error(kind);
    this.#closeIfDone();
    stream.exchange.owner.onFailure(stream.exchange, kind, now);
  }

  #closeIfDone(): void {
    const isOver = this.#isUsedUp || (this.#isRetiring && this.#waiting.length === 0);
    if (!isOver || this.#streams.size > 0 || this.#isClosing || this.#connection === undefined) return;
    this.#isClosing = true;
    this.#h2?.goaway();
    this.#connection.close();
  }

  #fail(kind: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = kind;
    this.#isClosing = true;
    this.#connection?.reset();
  }
}
