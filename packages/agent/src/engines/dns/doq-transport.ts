import { type PacketMeters, PacketObserver } from '../../net/quic/packet-observer.ts';
import {
  maxRequestsOfClient,
  type QuicConnection,
  type QuicConnectionEvents,
  type QuicStreamEvents,
} from '../../net/quic/quic.ts';
import type { QuicClient } from '../../net/quic/quic-client.ts';
import type { Route } from '../../net/transport/transport.ts';
import { frame } from './framing.ts';
import type { MessageTransport, MessageTransportEvents } from './message-transport.ts';

const noError = 0;

interface Query {
  readonly message: Buffer;
  readonly token: number;
}

/** One connection for queries over QUIC, one stream each. */
class DoqConnection implements QuicConnectionEvents {
  readonly #beganAt = performance.now();
  readonly #events: MessageTransportEvents;
  readonly #onLeave: (connection: DoqConnection) => void;
  readonly #packets: PacketMeters | undefined;
  #observer: PacketObserver | undefined;
  /** Queries that wait for the handshake, or until the server allows another stream. */
  readonly #waiting: Query[] = [];
  readonly #pending = new Set<number>();
  readonly connection: QuicConnection;
  #asked = 0;
  #isRetiring = false;
  #now = 0;

  constructor(
    connect: (events: QuicConnectionEvents) => QuicConnection,
    deps: {
      readonly events: MessageTransportEvents;
      readonly packets: PacketMeters | undefined;
      readonly onLeave: (connection: DoqConnection) => void;
    },
  ) {
    this.#events = deps.events;
    this.#packets = deps.packets;
    this.#onLeave = deps.onLeave;
    this.connection = connect(this);
  }

  /** It has had as many queries as a connection should carry. */
  get isUsedUp(): boolean {
    return this.#asked >= maxRequestsOfClient;
  }

  /** Closes once the last query is answered. */
  retire(): void {
    this.#isRetiring = true;
    this.#closeIfDone();
  }

  ask(query: Query): void {
    this.#asked++;
    if (this.#waiting.length > 0 || !this.#send(query))
      this.#waiting.push({ ...query, message: Buffer.from(query.message) });
  }

  onOpen(now: number): void {
    this.#events.onConnect({ ms: now - this.#beganAt, isResumed: this.connection.handshake().isResumed });
    if (this.#packets !== undefined) this.#observer = new PacketObserver(this.connection, this.#packets);
    this.onRoom();
  }

  onRoom(): void {
    while (this.#waiting.length > 0 && this.#send(this.#waiting[0] as Query)) this.#waiting.shift();
  }

  onStream(): QuicStreamEvents {
    return { onData() {}, onReset() {} };
  }

  onRead(now: number): void {
    this.#now = now;
  }

  onClose(code: string | undefined): void {
    this.#observer?.close();
    this.#onLeave(this);
    const lost = [...this.#pending, ...this.#waiting.splice(0).map(({ token }) => token)];
    this.#pending.clear();
    for (const token of lost) this.#events.onFail(token, code ?? 'closed');
  }

  /** False while no stream can be opened. */
  #send({ message, token }: Query): boolean {
    const parts: Buffer[] = [];
    const stream = this.connection.openStream(false, {
      onData: (bytes, start, end, isEnd) => {
        parts.push(Buffer.from(bytes.subarray(start, end)));
        if (isEnd) this.#answer(token, Buffer.concat(parts));
      },
      onReset: () => this.#fail(token, 'reset'),
    });
    if (stream === undefined) return false;
    this.#pending.add(token);
    const framed = frame(message);
    // Messages have the number 0 (RFC 9250, section 4.2.1): the stream tells which query is answered.
    framed.writeUInt16BE(0, 2);
    stream.write(framed, true);
    return true;
  }

  #answer(token: number, framed: Buffer): void {
    if (framed.length < 4 || framed.readUInt16BE(0) !== framed.length - 2) {
      this.#fail(token, 'protocol');
      return;
    }
    if (!this.#pending.delete(token)) return;
    framed.writeUInt16BE(token, 2);
    this.#events.onAnswer(token, { bytes: framed, start: 2, end: framed.length, now: this.#now });
    this.#closeIfDone();
  }

  #fail(token: number, code: string): void {
    if (!this.#pending.delete(token)) return;
    this.#events.onFail(token, code);
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#isRetiring && this.#pending.size === 0 && this.#waiting.length === 0) this.connection.close(noError);
  }
}

/**
 * Queries over QUIC (RFC 9250). The connection is opened on demand, and another one after the server closes it or it has
 * had as many queries as it should carry.
 */
export class DoqTransport implements MessageTransport {
  readonly #route: () => Route;
  readonly #quic: QuicClient;
  readonly #events: MessageTransportEvents;
  readonly #packets: PacketMeters | undefined;
  #current: DoqConnection | undefined;

  /** `packets`: those of its connections are watched. */
  constructor(
    route: () => Route,
    { quic, events, packets }: { quic: QuicClient; events: MessageTransportEvents; packets: PacketMeters | undefined },
  ) {
    this.#route = route;
    this.#quic = quic;
    this.#events = events;
    this.#packets = packets;
  }

  send(message: Buffer, token: number): void {
    if (this.#current?.isUsedUp) {
      const usedUp = this.#current;
      this.#current = undefined;
      usedUp.retire();
    }
    this.#current ??= this.#open();
    this.#current.ask({ message, token });
  }

  forget(): void {}

  close(): void {
    this.#current?.connection.close(noError);
  }

  #open(): DoqConnection {
    return new DoqConnection((events) => this.#quic.connect(this.#route(), events), {
      events: this.#events,
      packets: this.#packets,
      onLeave: (connection) => {
        if (this.#current === connection) this.#current = undefined;
      },
    });
  }
}
