import type { HarHeader } from '@rushhour/protocol';
import { type H3Events, type Header, h3Error, sendable } from '@rushhour/wire';
import { H3Carrier } from '../../../net/quic/h3-carrier.ts';
import type { QuicConnection, QuicConnectionEvents, QuicStream } from '../../../net/quic/quic.ts';
import type { QuicClient } from '../../../net/quic/quic-client.ts';
import type { Route } from '../../../net/transport/transport.ts';
import type { Answer, Request } from '../server/answer.ts';
import { type ByteCounters, ConnectionError, type HttpConnection } from './http-connection.ts';

interface Exchange {
  readonly request: Request;
  readonly body: Buffer[];
  readonly timer: NodeJS.Timeout;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: ConnectionError) => void;
  status: number;
  headers: HarHeader[];
}

const wireOf = ({ method, path, authority, scheme, headers, body }: Request): Header[] => [
  [':method', method],
  [':scheme', scheme],
  [':authority', authority],
  [':path', path],
  ...headers.map(({ name, value }) => sendable(name, value)).filter((header) => header !== undefined),
  ...(body === undefined ? [] : [['content-length', String(body.length)] as Header]),
];

/** HTTP/3: any number of concurrent requests; those above the limit of the peer wait for a stream. */
class H3Connection implements HttpConnection, QuicConnectionEvents, H3Events {
  readonly isShared = true;
  isOpen = false;
  answered = 0;
  readonly connection: QuicConnection;
  readonly #counters: ByteCounters;
  readonly #onSettled: (code: string | undefined) => void;
  readonly #running = new Map<number, Exchange>();
  readonly #waiting: Exchange[] = [];
  #carrier!: H3Carrier;

  /** `onSettled`: the handshake is complete, or the connection has ended by the given code. */
  constructor(
    connect: (events: QuicConnectionEvents) => QuicConnection,
    counters: ByteCounters,
    onSettled: (code: string | undefined) => void,
  ) {
    this.#counters = counters;
    this.#onSettled = onSettled;
    this.connection = connect(this);
  }

  get hasRoom(): boolean {
    return this.isOpen;
  }

  reserve(): void {}

  exchange(request: Request, timeoutMs: number): Promise<Answer> {
    if (!this.isOpen) return Promise.reject(new ConnectionError('closed'));
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const timer = setTimeout(() => this.#timeOut(exchange), timeoutMs);
    const exchange: Exchange = { request, body: [], timer, resolve, reject, status: 0, headers: [] };
    if (this.#waiting.length > 0 || !this.#send(exchange)) this.#waiting.push(exchange);
    return promise;
  }

  close(): void {
    this.connection.close(h3Error.none);
  }

  onOpen(): void {
    this.#carrier = new H3Carrier(this.connection, { isServer: false, events: this, onFail: () => {} });
    this.#carrier.h3.start();
    this.isOpen = true;
    this.#onSettled(undefined);
  }

  onStream(stream: QuicStream) {
    return this.#carrier.accept(stream);
  }

  onRoom(): void {
    while (this.#waiting.length > 0 && this.#send(this.#waiting[0] as Exchange)) this.#waiting.shift();
  }

  onBytes(direction: 'sent' | 'received', count: number): void {
    (direction === 'sent' ? this.#counters.txBytes : this.#counters.rxBytes).add(count);
  }

  onHeaders(stream: number, headers: readonly Header[], isEnd: boolean): void {
    const exchange = this.#running.get(stream);
    if (exchange === undefined) return;
    exchange.status = Number(headers.find(([name]) => name === ':status')?.[1] ?? 0);
    exchange.headers = headers.filter(([name]) => !name.startsWith(':')).map(([name, value]) => ({ name, value }));
    if (isEnd) this.#succeed(stream, exchange);
  }

  onBody(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void {
    const exchange = this.#running.get(stream);
    if (exchange === undefined) return;
    if (exchange.request.keepsBody) exchange.body.push(Buffer.from(bytes.subarray(start, end)));
    if (isEnd) this.#succeed(stream, exchange);
  }

  onReset(stream: number): void {
    this.#fail(stream, 'reset');
  }

  /** Requests under way are still answered; the next ones use another connection. */
  onGoaway(): void {
    this.isOpen = false;
  }

  onClose(code = 'closed'): void {
    this.isOpen = false;
    this.#onSettled(code);
    for (const stream of [...this.#running.keys()]) this.#fail(stream, code);
    for (const { timer, reject } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      reject(new ConnectionError(code));
    }
  }

  /** False while the server allows no more streams. */
  #send(exchange: Exchange): boolean {
    const stream = this.#carrier.openRequest();
    if (stream < 0) return false;
    this.#running.set(stream, exchange);
    this.#carrier.h3.request(stream, wireOf(exchange.request), exchange.request.body);
    return true;
  }

  #succeed(stream: number, exchange: Exchange): void {
    const { status, headers, body, timer, resolve } = exchange;
    this.#end(stream, timer);
    this.answered++;
    resolve({ status, headers, body: Buffer.concat(body) });
  }

  #fail(stream: number, code: string): void {
    const exchange = this.#running.get(stream);
    if (exchange === undefined) return;
    this.#end(stream, exchange.timer);
    exchange.reject(new ConnectionError(code));
  }

  #end(stream: number, timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#running.delete(stream);
    this.#carrier.forget(stream);
  }

  #timeOut(exchange: Exchange): void {
    const at = this.#waiting.indexOf(exchange);
    if (at >= 0) {
      this.#waiting.splice(at, 1);
      exchange.reject(new ConnectionError('timeout'));
      return;
    }
    for (const [stream, running] of this.#running) {
      if (running !== exchange) continue;
      this.#carrier.h3.reset(stream, h3Error.requestCancelled);
      this.#fail(stream, 'timeout');
    }
  }
}

interface H3DialOptions {
  readonly route: Route;
  readonly quic: QuicClient;
  readonly counters: ByteCounters;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Opens a connection for HTTP/3. Rejects with a `ConnectionError`. */
export const dialH3 = ({ route, quic, counters, timeoutMs, signal }: H3DialOptions): Promise<HttpConnection> => {
  const { promise, resolve, reject } = Promise.withResolvers<HttpConnection>();
  const opened = new H3Connection(
    (events) => quic.connect(route, events),
    counters,
    (code) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      if (code === undefined) resolve(opened);
      else reject(new ConnectionError(code));
    },
  );
  const giveUp = (code: string) => {
    reject(new ConnectionError(code));
    opened.close();
  };
  const onAbort = () => giveUp('closed');
  const timer = setTimeout(() => giveUp('connectTimeout'), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  return promise;
};
