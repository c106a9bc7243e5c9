import type { H3Events, Header } from '@rushhour/wire';
import type { IndexedMember, IndexedSet } from '../../../net/loop/indexed-set.ts';
import { H3Carrier } from '../../../net/quic/h3-carrier.ts';
import {
  maxRequestsOfServer,
  type QuicConnection,
  type QuicConnectionEvents,
  type QuicStream,
} from '../../../net/quic/quic.ts';
import type { ServerMeters } from '../meters.ts';
import { type Response, responseHeaders } from '../response.ts';

export interface H3ServerDeps {
  readonly next: () => Response;
  readonly meters: ServerMeters;
  readonly idleMs: number;
  /** So many requests on a connection, then clients are asked to open another. */
  readonly maxRequests?: number;
  /** Open connections. */
  readonly connections: IndexedSet<H3ServerConnection>;
}

const noError = 0x100;

/** One HTTP/3 connection of a server. */
export class H3ServerConnection implements QuicConnectionEvents, H3Events, IndexedMember {
  setIndex = -1;
  readonly #connection: QuicConnection;
  readonly #deps: H3ServerDeps;
  readonly #carrier: H3Carrier;
  /** Requests without an answer; true for HEAD. */
  readonly #pending = new Map<number, boolean>();
  #requests = 0;
  #usedAt = performance.now();
  #isGone = false;

  constructor(connection: QuicConnection, deps: H3ServerDeps) {
    this.#connection = connection;
    this.#deps = deps;
    const onFail = () => deps.meters.error('protocol');
    this.#carrier = new H3Carrier(connection, { isServer: true, events: this, onFail });
  }

  onOpen(): void {
    const { meters, connections } = this.#deps;
    connections.add(this);
    meters.concurrent.add(1);
    meters.connections.add(1);
    this.#carrier.h3.start();
  }

  onStream(stream: QuicStream) {
    return this.#carrier.accept(stream);
  }

  onRead(now: number): void {
    this.#usedAt = now;
  }

  onBytes(direction: 'sent' | 'received', count: number): void {
    const { txBytes, rxBytes } = this.#deps.meters;
    (direction === 'sent' ? txBytes : rxBytes).add(count);
  }

  onBody(stream: number, _bytes: Uint8Array, _start: number, _end: number, isEnd: boolean): void {
    if (isEnd) this.#answer(stream);
  }

  onHeaders(stream: number, headers: readonly Header[], isEnd: boolean): void {
    if (++this.#requests === (this.#deps.maxRequests ?? maxRequestsOfServer)) this.#carrier.h3.goaway();
    this.#pending.set(
      stream,
      headers.some(([name, value]) => name === ':method' && value === 'HEAD'),
    );
    if (isEnd) this.#answer(stream);
  }

  onReset(stream: number): void {
    this.#pending.delete(stream);
    this.#deps.meters.error('reset');
  }

  onClose(code: string | undefined): void {
    const { meters, connections } = this.#deps;
    if (code !== undefined) meters.error(code);
    this.#isGone = true;
    if (!connections.has(this)) return;
    connections.delete(this);
    meters.concurrent.add(-1);
  }

  /** Closes the connection when it is idle for too long. */
  sweep(now: number): void {
    if (now - this.#usedAt <= this.#deps.idleMs || this.#pending.size > 0) return;
    this.#carrier.h3.goaway();
    this.#connection.close(noError);
  }

  #answer(stream: number): void {
    const { next, meters } = this.#deps;
    const response = next();
    meters.requests.add(1);
    meters.status(response.status);
    if (response.delayMs === 0) this.#respond(stream, response);
    else setTimeout(() => this.#respond(stream, response), response.delayMs);
  }

  #respond(stream: number, response: Response): void {
    const isHead = this.#pending.get(stream);
    if (isHead === undefined || this.#isGone) return;
    this.#pending.delete(stream);
    const hasBody = !isHead && response.status !== 204 && response.status !== 304;
    this.#carrier.h3.respond(stream, responseHeaders(response), hasBody ? response.body : undefined);
    this.#carrier.forget(stream);
  }
}
