import { performance } from 'node:perf_hooks';
import type { Header } from '@rushhour/wire';
import type { Route } from '../../../net/transport/transport.ts';
import type { ResponseField } from '../h1/response-parser.ts';
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

/**
 * One connection at a time, with a stream for each exchange: what HTTP/2 and HTTP/3 have in common. A session is the
 * protocol on a connection that is open.
 */
export abstract class StreamCarrier<Connection, Session> implements Carrier {
  readonly maxExchanges = maxStreams;
  protected target!: JourneyTarget;
  protected connection: Connection | undefined;
  protected session: Session | undefined;
  protected connectAt = 0;
  protected now = 0;
  protected isClosing = false;
  protected failure: string | undefined;
  readonly #context: CarrierContext;
  readonly #maxRequests: number;
  readonly #streams = new Map<number, Stream>();
  /** Exchanges that wait for a connection or for a stream. */
  #waiting: Exchange[] = [];
  #sent = 0;
  #isRetiring = false;
  #isAbandoned = false;
  /** The server takes no more requests on this connection, or has had as many as allowed. */
  #isUsedUp = false;

  /** `maxRequests`: on one connection, unless the configuration allows fewer. */
  constructor(context: CarrierContext, maxRequests = Number.POSITIVE_INFINITY) {
    this.#context = context;
    const { keepAlive } = context.config;
    this.#maxRequests = keepAlive.enabled ? Math.min(keepAlive.maxRequests || maxRequests, maxRequests) : 1;
  }

  protected abstract connect(route: Route): Connection;
  /** The stream of the next request where it is opened beforehand; negative while the server allows no more. */
  protected abstract openStream(session: Session): number;
  /** Returns the stream of the request. */
  protected abstract writeRequest(
    session: Session,
    opened: number,
    request: readonly [readonly Header[], Buffer | undefined],
  ): number;
  protected abstract cancelStream(session: Session, id: number): void;
  protected abstract forgetStream(session: Session, id: number): void;
  /** Sends what is collected. */
  protected abstract flush(): void;
  /** Closes a connection without exchanges. */
  protected abstract close(connection: Connection): void;
  protected abstract abort(connection: Connection): void;

  send(exchange: Exchange, now: number): void {
    this.#waiting.push(exchange);
    if (this.connection === undefined) this.#connect();
    else this.sendWaiting(now);
  }

  sweep(now: number): void {
    if (this.connection === undefined || this.isClosing) return;
    const { timeoutMs } = this.#context.config;
    const { session } = this;
    if (session === undefined) {
      const [first] = this.#waiting;
      if (first === undefined || now - first.startedAt <= timeoutMs) return;
      for (const exchange of this.#waiting) exchange.recordTimes(now);
      this.fail('connectTimeout');
      return;
    }
    for (const [id, { exchange }] of this.#streams) {
      if (now - exchange.startedAt <= timeoutMs) continue;
      exchange.recordTimes(now);
      this.cancelStream(session, id);
      this.failStream(id, 'timeout', now);
    }
    this.flush();
  }

  retire(): void {
    this.#isRetiring = true;
    this.closeIfDone();
  }

  abandon(): void {
    if (this.connection === undefined) return;
    const now = performance.now();
    for (const { exchange } of this.#streams.values()) exchange.abandon(this.target, now);
    // One connection fails, however many wait for it.
    if (this.session === undefined) this.#waiting[0]?.abandon(this.target, now);
    this.#streams.clear();
    this.#waiting = [];
    this.#isAbandoned = true;
    this.isClosing = true;
    this.abort(this.connection);
  }

  onHeaders(id: number, headers: readonly Header[], isEnd: boolean): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    stream.status = Number(headers.find(([name]) => name === ':status')?.[1] ?? 0);
    stream.fields = headers.map(([name, value]) => ({ name, value }));
    this.target.meters.ttfb.record((this.now - stream.exchange.sentAt) * 1000);
    if (isEnd) this.#end(id);
  }

  onBody(id: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void {
    this.#streams.get(id)?.exchange.onBody(bytes, start, end);
    if (isEnd) this.#end(id);
  }

  onGoaway(): void {
    this.#isUsedUp = true;
    this.closeIfDone();
  }

  onClose(code: string | undefined, now: number): void {
    this.now = now;
    const failure = this.failure ?? code ?? 'closed';
    const wasOpen = this.session !== undefined;
    const lost = [...this.#streams.values()].map(({ exchange }) => exchange);
    // Exchanges that waited while the connection was being closed get another one.
    const failed = wasOpen || this.#isAbandoned ? lost : [...lost, ...this.#waiting.splice(0)];
    this.#streams.clear();
    this.connection = undefined;
    this.session = undefined;
    this.#context.onClosed(now);
    for (const exchange of failed) {
      this.target.meters.error(failure);
      exchange.owner.onFailure(exchange, failure, now);
    }
    if (this.#waiting.length > 0 && this.connection === undefined) this.#connect();
  }

  protected sendWaiting(now: number): void {
    const { session } = this;
    if (session === undefined || this.isClosing) return;
    while (this.#waiting.length > 0 && !this.#isUsedUp) {
      const opened = this.openStream(session);
      if (opened < 0) return;
      this.#request(session, opened, { exchange: this.#waiting.shift() as Exchange, now });
    }
  }

  protected failStream(id: number, kind: string, now: number): void {
    const stream = this.#take(id);
    if (stream === undefined) return;
    this.target.meters.error(kind);
    this.closeIfDone();
    stream.exchange.owner.onFailure(stream.exchange, kind, now);
  }

  protected closeIfDone(): void {
    const isOver = this.#isUsedUp || (this.#isRetiring && this.#waiting.length === 0);
    if (!isOver || this.#streams.size > 0 || this.isClosing || this.connection === undefined) return;
    this.isClosing = true;
    this.close(this.connection);
  }

  protected fail(kind: string): void {
    if (this.failure !== undefined) return;
    this.failure = kind;
    this.isClosing = true;
    if (this.connection !== undefined) this.abort(this.connection);
  }

  #connect(): void {
    const { chooseTarget, routeTo, index, onConnecting } = this.#context;
    this.target = chooseTarget(index);
    this.#sent = 0;
    this.isClosing = false;
    this.#isUsedUp = false;
    this.failure = undefined;
    this.connectAt = performance.now();
    onConnecting();
    this.connection = this.connect(routeTo(this.target, index));
  }

  #request(session: Session, opened: number, { exchange, now }: { exchange: Exchange; now: number }): void {
    const { request, owner } = exchange;
    const body = request.bodyOf(owner.values);
    const cookie = owner.cookieFor(request, this.target);
    const headers = request.h2Headers(this.target, owner.values, { cookie, length: body?.length });
    if (exchange.isTraced) exchange.trace(headersText(headers, body));
    this.#sent++;
    this.#isUsedUp ||= this.#sent >= this.#maxRequests;
    exchange.onSent(this.target, 0, now);
    this.#streams.set(this.writeRequest(session, opened, [headers, body]), { exchange, status: 0, fields: [] });
    this.flush();
  }

  #take(id: number): Stream | undefined {
    const stream = this.#streams.get(id);
    if (stream === undefined) return undefined;
    this.#streams.delete(id);
    if (this.session !== undefined) this.forgetStream(this.session, id);
    return stream;
  }

  #end(id: number): void {
    const stream = this.#take(id);
    if (stream === undefined) return;
    this.closeIfDone();
    stream.exchange.onEnd(stream.status, stream.fields, this.now);
  }
}
