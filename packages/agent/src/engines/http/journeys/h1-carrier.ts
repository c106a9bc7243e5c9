import { performance } from 'node:perf_hooks';
import type { Chunk, Connection, ConnectionEvents } from '../../../net/transport/transport.ts';
import { type ResponseEvents, ResponseParser } from '../h1/response-parser.ts';
import type { Carrier, TcpCarrierContext } from './carrier.ts';
import type { Exchange } from './exchange.ts';
import type { JourneyTarget } from './step-request.ts';

/** As many connections to one host as browsers open. */
const maxConnections = 6;

/** HTTP/1.1: one connection, and more for requests at the same time. */
export class H1Carrier implements Carrier {
  readonly maxExchanges = maxConnections;
  readonly #context: TcpCarrierContext;
  readonly #connections: UserConnection[] = [];
  #target: JourneyTarget | undefined;

  constructor(context: TcpCarrierContext) {
    this.#context = context;
  }

  /** The target of the user; chosen again once no connection is left. */
  get target(): JourneyTarget {
    if (this.#target === undefined || !this.#connections.some(({ isConnected }) => isConnected)) {
      this.#target = this.#context.chooseTarget(this.#context.index);
    }
    return this.#target;
  }

  send(exchange: Exchange, now: number): void {
    let connection = this.#connections[0];
    for (let i = 1; connection?.exchange !== undefined && i <= this.#connections.length; i++)
      connection = this.#connections[i];
    if (connection === undefined) {
      connection = new UserConnection(this.#context, this);
      this.#connections.push(connection);
    }
    connection.send(exchange, now);
  }

  sweep(now: number): void {
    for (const connection of this.#connections) connection.sweep(now);
  }

  retire(): void {
    for (const connection of this.#connections) connection.retire();
  }

  abandon(): void {
    for (const connection of this.#connections) connection.abandon();
  }
}

/** One connection at a time with one exchange at a time. */
class UserConnection implements ConnectionEvents, ResponseEvents {
  exchange: Exchange | undefined;
  readonly #context: TcpCarrierContext;
  readonly #carrier: H1Carrier;
  readonly #maxRequests: number;
  readonly #parser: ResponseParser;
  #connection: Connection | undefined;
  #target!: JourneyTarget;
  #isOpen = false;
  #isClosing = false;
  #isRetiring = false;
  #isAbandoned = false;
  #failure: string | undefined;
  #sent = 0;
  #connectAt = 0;
  #connectedAt = 0;
  #now = 0;

  constructor(context: TcpCarrierContext, carrier: H1Carrier) {
    this.#context = context;
    this.#carrier = carrier;
    const { keepAlive } = context.config;
    this.#maxRequests = keepAlive.enabled ? keepAlive.maxRequests || Number.POSITIVE_INFINITY : 1;
    const isHead = () => this.exchange?.request.isHead === true;
    this.#parser = new ResponseParser(this, {
      get isHead() {
        return isHead();
      },
      findsLocation: false,
      keepsFields: true,
    });
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  send(exchange: Exchange, now: number): void {
    this.exchange = exchange;
    if (this.#connection === undefined) this.#connect();
    else if (this.#isOpen && !this.#isClosing) this.#write(now);
  }

  sweep(now: number): void {
    const { timeoutMs, keepAlive } = this.#context.config;
    if (this.#connection === undefined || this.#isClosing) return;
    if (this.exchange === undefined) {
      if (keepAlive.idleMs > 0 && now - this.#now > keepAlive.idleMs) this.#close();
    } else if (now - this.exchange.startedAt > timeoutMs) {
      this.exchange.recordTimes(now);
      this.#fail(this.#isOpen ? 'timeout' : 'connectTimeout');
    }
  }

  retire(): void {
    this.#isRetiring = true;
    if (this.exchange === undefined) this.#close();
  }

  abandon(): void {
    if (this.#connection === undefined) return;
    this.exchange?.abandon(this.#target, performance.now());
    this.exchange = undefined;
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
    if (this.#context.config.tls === undefined) meters.connect.record((now - this.#connectAt) * 1000);
    else meters.tls.record((now - this.#connectedAt) * 1000);
    this.#isOpen = true;
    meters.connections.add(1);
    if (this.exchange !== undefined) this.#write(now);
    else if (this.#isRetiring) this.#close();
  }

  onData({ bytes, start, end, now }: Chunk): void {
    this.#now = now;
    const { meters } = this.#target;
    meters.rxBytes.add(end - start);
    if (this.exchange !== undefined && this.#parser.isIdle) {
      meters.ttfb.record((now - this.exchange.sentAt) * 1000);
    }
    try {
      this.#parser.feed(bytes, start, end);
    } catch {
      this.#fail('protocol');
    }
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    this.exchange?.onBody(bytes, start, end);
  }

  onResponse(status: number, isKeptAlive: boolean): void {
    const { exchange } = this;
    if (exchange === undefined || Number.isNaN(exchange.sentAt)) {
      this.#fail('protocol');
      return;
    }
    this.exchange = undefined;
    if (!isKeptAlive || this.#isRetiring || this.#sent >= this.#maxRequests) this.#close();
    exchange.onEnd(status, this.#parser.fields, this.#now);
  }

  onClose(code: string | undefined, now: number): void {
    this.#now = now;
    // A response without a length ends at the close.
    this.#parser.finish();
    const { exchange } = this;
    const wasClosing = this.#isClosing && this.#failure === undefined;
    const failure = this.#failure ?? code ?? 'closed';
    this.#connection = undefined;
    this.#isOpen = false;
    if (exchange === undefined || this.#isAbandoned) {
      this.#context.onClosed(now);
      return;
    }
    // The exchange was begun while the connection was being closed: it gets another one.
    if (wasClosing && Number.isNaN(exchange.sentAt)) {
      this.#context.onClosed(now);
      this.#connect();
      return;
    }
    this.exchange = undefined;
    this.#target.meters.error(failure);
    exchange.owner.onFailure(exchange, failure, now);
    this.#context.onClosed(now);
  }

  #connect(): void {
    const target = this.#carrier.target;
    this.#target = target;
    this.#sent = 0;
    this.#isClosing = false;
    this.#failure = undefined;
    this.#connectAt = performance.now();
    this.#connectedAt = this.#connectAt;
    this.#context.onConnecting();
    this.#connection = this.#context.transport.connect(this.#context.routeTo(target, this.#context.index), this);
  }

  #write(now: number): void {
    const exchange = this.exchange as Exchange;
    const { request, owner } = exchange;
    this.#sent++;
    this.#parser.reset(request.knownOf(this.#target));
    const cookie = owner.cookieFor(request, this.#target);
    const message = cookie === undefined ? request.fixedMessage(this.#target) : undefined;
    if (message !== undefined) {
      if (exchange.isTraced) exchange.trace(Buffer.from(message.bytes).toString());
      exchange.onSent(this.#target, message.bytes.length, now);
      this.#connection?.write(message);
      return;
    }
    const bytes = request.bytes(this.#target, owner.values, cookie);
    if (exchange.isTraced) exchange.trace(bytes.toString());
    exchange.onSent(this.#target, bytes.length, now);
    this.#connection?.writeCopy(bytes);
  }

  #close(): void {
    if (this.#isClosing || this.#connection === undefined) return;
    this.#isClosing = true;
    this.#connection.close();
  }

  #fail(kind: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = kind;
    this.#isClosing = true;
    this.#connection?.reset();
  }
}
