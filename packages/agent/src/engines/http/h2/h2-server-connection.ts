import { H2Connection, type H2Events, type Header } from '@rushhour/wire';
import type { IndexedMember, IndexedSet } from '../../../net/loop/indexed-set.ts';
import type { Chunk, Connection, ConnectionEvents } from '../../../net/transport/transport.ts';
import type { ServerMeters } from '../meters.ts';
import { type Response, responseHeaders } from '../response.ts';

export interface H2ServerDeps {
  readonly next: () => Response;
  readonly meters: ServerMeters;
  readonly idleMs: number;
  /** Open connections. */
  readonly connections: IndexedSet<H2ServerConnection>;
}

/** One HTTP/2 connection of a server. */
export class H2ServerConnection implements ConnectionEvents, H2Events, IndexedMember {
  setIndex = -1;
  readonly #connection: Connection;
  readonly #deps: H2ServerDeps;
  readonly #h2: H2Connection;
  /** Requests whose body is not complete; true for HEAD. */
  readonly #pending = new Map<number, boolean>();
  #usedAt = performance.now();
  #isGone = false;

  constructor(connection: Connection, deps: H2ServerDeps) {
    this.#connection = connection;
    this.#deps = deps;
    const write = (bytes: Uint8Array): void => {
      deps.meters.txBytes.add(bytes.length);
      connection.writeCopy(bytes);
    };
    this.#h2 = new H2Connection({ isServer: true, write }, this);
    this.#h2.start();
    deps.connections.add(this);
    deps.meters.concurrent.add(1);
    deps.meters.connections.add(1);
  }

  onOpen(): void {}

  onData({ bytes, start, end, now }: Chunk): void {
    this.#usedAt = now;
    this.#deps.meters.rxBytes.add(end - start);
    const error = this.#h2.feed(bytes, start, end);
    if (error === undefined) return;
    this.#deps.meters.error('protocol');
    this.#connection.close();
  }

  onBody(stream: number, _bytes: Uint8Array, _start: number, _end: number, isEnd: boolean): void {
    if (isEnd) this.#answer(stream, this.#pending.get(stream) ?? false);
  }

  onHeaders(stream: number, headers: readonly Header[], isEnd: boolean): void {
    const isHead = headers.some(([name, value]) => name === ':method' && value === 'HEAD');
    if (isEnd) this.#answer(stream, isHead);
    else this.#pending.set(stream, isHead);
  }

  onReset(stream: number): void {
    this.#pending.delete(stream);
    this.#deps.meters.error('reset');
  }

  onClose(code: string | undefined): void {
    const { meters, connections } = this.#deps;
    if (code !== undefined) meters.error(code);
    this.#isGone = true;
    connections.delete(this);
    meters.concurrent.add(-1);
  }

  /** Closes the connection when it is idle for too long. */
  sweep(now: number): void {
    if (now - this.#usedAt <= this.#deps.idleMs || this.#h2.openStreams > 0) return;
    this.#h2.goaway();
    this.#connection.close();
  }

  #answer(stream: number, isHead: boolean): void {
    this.#pending.delete(stream);
    const { next, meters } = this.#deps;
    const response = next();
    meters.requests.add(1);
    meters.status(response.status);
    if (response.delayMs === 0) this.#respond(stream, response, isHead);
    else {
      setTimeout(() => {
        if (this.#isGone) return;
        this.#respond(stream, response, isHead);
        this.#h2.flush();
      }, response.delayMs);
    }
  }

  #respond(stream: number, response: Response, isHead: boolean): void {
    const hasBody = !isHead && response.status !== 204 && response.status !== 304;
    this.#h2.respond(stream, responseHeaders(response), hasBody ? response.body : undefined);
  }
}
