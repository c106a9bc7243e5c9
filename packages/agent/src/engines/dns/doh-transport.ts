import { H2Connection, type H2Events, type Header } from '@rushhour/wire';
import type { Chunk, Connection, ConnectionEvents, Route, Transport } from '../../net/transport/transport.ts';
import type { MessageTransport, MessageTransportEvents } from './message-transport.ts';

interface Pending {
  readonly token: number;
  status: number;
  body: Buffer | undefined;
}

/** One connection for queries over HTTP/2, one stream each. */
class DohConnection implements ConnectionEvents, H2Events {
  readonly #beganAt = performance.now();
  readonly #events: MessageTransportEvents;
  readonly #onLeave: (connection: DohConnection) => void;
  readonly #h2: H2Connection;
  readonly #pending = new Map<number, Pending>();
  readonly connection: Connection;
  #isResumed = false;
  #isLeaving = false;
  #now = 0;

  constructor(connect: (events: ConnectionEvents) => Connection, deps: DohConnectionDeps) {
    this.#events = deps.events;
    this.#onLeave = deps.onLeave;
    this.connection = connect(this);
    this.#h2 = new H2Connection({ isServer: false, write: (bytes) => this.connection.writeCopy(bytes) }, this);
    // Bytes wait for the end of the handshake in the connection.
    this.#h2.start();
  }

  ask(headers: readonly Header[], message: Buffer, token: number): void {
    // A copy: what exceeds the window of the server waits, and the message may be reused.
    const stream = this.#h2.request(headers, Buffer.from(message));
    this.#pending.set(stream, { token, status: 0, body: undefined });
    this.#h2.flush();
  }

  onResume(): void {
    this.#isResumed = true;
  }

  onOpen(): void {
    this.#events.onConnect({ ms: performance.now() - this.#beganAt, isResumed: this.#isResumed });
  }

  onData({ bytes, start, end, now }: Chunk): void {
    this.#now = now;
    if (this.#h2.feed(bytes, start, end) !== undefined) this.connection.reset();
  }

  onHeaders(stream: number, headers: readonly Header[], isEnd: boolean): void {
    const pending = this.#pending.get(stream);
    if (pending === undefined) return;
    pending.status = Number(headers.find(([name]) => name === ':status')?.[1] ?? 0);
    if (isEnd) this.#end(stream, pending);
  }

  onBody(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void {
    const pending = this.#pending.get(stream);
    if (pending === undefined) return;
    const part = Buffer.from(bytes.subarray(start, end));
    pending.body = pending.body === undefined ? part : Buffer.concat([pending.body, part]);
    if (isEnd) this.#end(stream, pending);
  }

  onReset(stream: number): void {
    const pending = this.#pending.get(stream);
    if (pending === undefined) return;
    this.#pending.delete(stream);
    this.#events.onFail(pending.token, 'reset');
    this.#closeIfDone();
  }

  onGoaway(): void {
    this.#isLeaving = true;
    this.#onLeave(this);
    this.#closeIfDone();
  }

  onClose(code: string | undefined): void {
    this.#onLeave(this);
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    for (const { token } of lost) this.#events.onFail(token, code ?? 'closed');
  }

  #end(stream: number, { token, status, body }: Pending): void {
    this.#pending.delete(stream);
    if (status === 200 && body !== undefined)
      this.#events.onAnswer(token, { bytes: body, start: 0, end: body.length, now: this.#now });
    else this.#events.onFail(token, `http${status}`);
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#isLeaving && this.#pending.size === 0) this.connection.close();
  }
}

interface DohConnectionDeps {
  readonly events: MessageTransportEvents;
  /** The connection takes no more queries. */
  readonly onLeave: (connection: DohConnection) => void;
}

/** Queries over HTTP/2 (RFC 8484). The connection is opened on demand and reopened after the server closes it. */
export class DohTransport implements MessageTransport {
  readonly #route: () => Route;
  readonly #transport: Transport;
  readonly #target: { readonly authority: string; readonly path: string };
  readonly #events: MessageTransportEvents;
  readonly #headers = new Map<number, readonly Header[]>();
  #current: DohConnection | undefined;

  constructor(
    route: () => Route,
    transport: Transport,
    target: { readonly authority: string; readonly path: string },
    events: MessageTransportEvents,
  ) {
    this.#route = route;
    this.#transport = transport;
    this.#target = target;
    this.#events = events;
  }

  send(message: Buffer, token: number): void {
    this.#current ??= this.#open();
    this.#current.ask(this.#headersFor(message.length), message, token);
  }

  forget(): void {}

  close(): void {
    this.#current?.connection.reset();
  }

  #open(): DohConnection {
    return new DohConnection((events) => this.#transport.connect(this.#route(), events), {
      events: this.#events,
      onLeave: (connection) => {
        if (this.#current === connection) this.#current = undefined;
      },
    });
  }

  /** One list for each length: the encoder remembers the block of a list. */
  #headersFor(length: number): readonly Header[] {
    const known = this.#headers.get(length);
    if (known !== undefined) return known;
    const headers: readonly Header[] = [
      [':method', 'POST'],
      [':scheme', 'https'],
      [':path', this.#target.path],
      [':authority', this.#target.authority],
      ['content-type', 'application/dns-message'],
      ['accept', 'application/dns-message'],
      ['content-length', String(length)],
    ];
    this.#headers.set(length, headers);
    return headers;
  }
}
