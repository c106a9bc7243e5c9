import type { Chunk, Connection, ConnectionEvents, Route, Transport } from '../../net/transport/transport.ts';
import { Deframer, frame } from './framing.ts';
import type { MessageTransport, MessageTransportEvents } from './message-transport.ts';

/** One connection of a stream transport, from its opening to its close. */
class QueryConnection implements ConnectionEvents {
  readonly #beganAt = performance.now();
  readonly #deframer = new Deframer();
  readonly #owner: StreamTransport;
  connection!: Connection;
  #isResumed = false;

  constructor(owner: StreamTransport) {
    this.#owner = owner;
  }

  onResume(): void {
    this.#isResumed = true;
  }

  onOpen(): void {
    this.#owner.events.onConnect({ ms: performance.now() - this.#beganAt, isResumed: this.#isResumed });
  }

  onData({ bytes, start, end, now }: Chunk): void {
    this.#deframer.feed(bytes.subarray(start, end), (message) => {
      if (message.length >= 2) this.#owner.answered(message, now);
    });
  }

  onClose(code: string | undefined): void {
    this.#owner.closed(this, code);
  }
}

/** Queries over TCP or TLS. The connection is opened on demand and reopened after the server closes it. */
export class StreamTransport implements MessageTransport {
  readonly events: MessageTransportEvents;
  readonly #route: () => Route;
  readonly #transport: Transport;
  readonly #waiting = new Set<number>();
  #current: QueryConnection | undefined;
  #isClosed = false;

  constructor(route: () => Route, transport: Transport, events: MessageTransportEvents) {
    this.#route = route;
    this.#transport = transport;
    this.events = events;
  }

  send(message: Buffer, token: number): void {
    this.#waiting.add(token);
    this.#current ??= this.#open();
    this.#current.connection.writeCopy(frame(message));
  }

  forget(token: number): void {
    this.#waiting.delete(token);
  }

  close(): void {
    this.#isClosed = true;
    this.#current?.connection.reset();
  }

  answered(message: Buffer, now: number): void {
    const token = message.readUInt16BE(0);
    this.#waiting.delete(token);
    this.events.onAnswer(token, { bytes: message, start: 0, end: message.length, now });
  }

  closed(connection: QueryConnection, code: string | undefined): void {
    if (this.#current === connection) this.#current = undefined;
    if (this.#isClosed) return;
    const lost = [...this.#waiting];
    this.#waiting.clear();
    for (const token of lost) this.events.onFail(token, code ?? 'closed');
  }

  #open(): QueryConnection {
    const connection = new QueryConnection(this);
    connection.connection = this.#transport.connect(this.#route(), connection);
    return connection;
  }
}
