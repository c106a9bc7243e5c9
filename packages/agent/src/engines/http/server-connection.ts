import type { HttpServerConfig } from '@rushhour/protocol';
import type { IndexedMember, IndexedSet } from '../../net/loop/indexed-set.ts';
import type { Chunk, Connection, ConnectionEvents, Message, Transport } from '../../net/transport/transport.ts';
import type { KnownHead } from './h1/known-head.ts';
import { type RequestEvents, type RequestHead, RequestParser } from './h1/request-parser.ts';
import type { ServerMeters } from './meters.ts';
import type { Response } from './response.ts';

const continueResponse = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
const badRequest = Buffer.from('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');

export interface ServerDeps {
  readonly next: () => Response;
  readonly meters: ServerMeters;
  readonly keepAlive: HttpServerConfig['keepAlive'];
  readonly transport: Transport;
  /** Clients of one run send mostly identical heads. */
  readonly known: KnownHead<RequestHead>;
  /** Open connections. */
  readonly connections: IndexedSet<ServerConnection>;
}

/** One server connection. Responses are sent in the order of the requests, also when delayed. */
export class ServerConnection implements RequestEvents, ConnectionEvents, IndexedMember {
  setIndex = -1;
  readonly #connection: Connection;
  readonly #deps: ServerDeps;
  readonly #parser = new RequestParser(this);
  #delayed: Promise<void> | undefined;
  #served = 0;
  #usedAt = performance.now();
  #isClosing = false;
  #isGone = false;

  constructor(connection: Connection, deps: ServerDeps) {
    this.#connection = connection;
    this.#deps = deps;
    this.#parser.reset(deps.known);
    deps.connections.add(this);
    deps.meters.concurrent.add(1);
    deps.meters.connections.add(1);
  }

  onOpen(): void {}

  onContinue(): void {
    this.#write(this.#deps.transport.prepareMessage(continueResponse));
  }

  onRequest(isHead: boolean, isKeptAlive: boolean): void {
    if (this.#isClosing) return;
    const { next, meters, keepAlive } = this.#deps;
    const response = next();
    this.#served++;
    const isLast = !isKeptAlive || !keepAlive.enabled || this.#served === keepAlive.maxRequests;
    this.#isClosing = isLast;
    meters.requests.add(1);
    meters.status(response.status);
    const form = isLast ? response.closing : response.keptAlive;
    const message = isHead ? form.head : form.full;
    if (response.delayMs > 0 || this.#delayed !== undefined) this.#sendLater(message, response.delayMs, isLast);
    else this.#write(message);
  }

  onData({ bytes, start, end, now }: Chunk): void {
    this.#usedAt = now;
    this.#deps.meters.rxBytes.add(end - start);
    try {
      this.#parser.feed(bytes, start, end);
    } catch {
      this.#deps.meters.error('protocol');
      if (!this.#isClosing) this.#write(this.#deps.transport.prepareMessage(badRequest));
      this.#isClosing = true;
    }
    if (this.#isClosing && this.#delayed === undefined) this.#connection.close();
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
    if (now - this.#usedAt > this.#deps.keepAlive.idleMs) this.#connection.close();
  }

  #write(message: Message): void {
    this.#deps.meters.txBytes.add(message.bytes.length);
    this.#connection.write(message);
  }

  #sendLater(message: Message, delayMs: number, isLast: boolean): void {
    const due = new Promise<void>((resolve) => setTimeout(resolve, delayMs));
    const before = this.#delayed ?? Promise.resolve();
    const sent = before
      .then(() => due)
      .then(() => {
        this.#usedAt = performance.now();
        if (!this.#isGone) this.#write(message);
        if (this.#delayed === sent) this.#delayed = undefined;
        if (isLast) this.#connection.close();
      });
    this.#delayed = sent;
  }
}
