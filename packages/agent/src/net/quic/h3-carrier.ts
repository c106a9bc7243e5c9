import { H3Connection, type H3Events, h3Error } from '@rushhour/wire';
import type { QuicConnection, QuicStream, QuicStreamEvents } from './quic.ts';

interface CarrierEvents extends H3Events {
  /** Bytes of all streams. */
  onBytes?(direction: 'sent' | 'received', count: number): void;
  /** What was written to a stream waits no more. */
  onDrained?(stream: number): void;
}

/** Carries HTTP/3 on a QUIC connection: numbers of streams become streams. */
export class H3Carrier {
  readonly h3: H3Connection;
  readonly #connection: QuicConnection;
  readonly #events: CarrierEvents;
  readonly #streams = new Map<number, QuicStream>();
  readonly #onFail: (reason: string) => void;

  /** `onFail`: the peer broke the protocol, and the connection is closed. */
  constructor(
    connection: QuicConnection,
    { isServer, events, onFail }: { isServer: boolean; events: CarrierEvents; onFail: (reason: string) => void },
  ) {
    this.#connection = connection;
    this.#events = events;
    this.#onFail = onFail;
    this.h3 = new H3Connection(
      {
        isServer,
        openStream: () => this.#openControl(),
        write: (stream, bytes, isEnd) => {
          events.onBytes?.('sent', bytes.length);
          this.#streams.get(stream)?.write(bytes, isEnd);
        },
        reset: (stream, code) => {
          this.#streams.get(stream)?.reset(code);
          this.#streams.delete(stream);
        },
      },
      events,
    );
  }

  /** A new stream for a request; -1 while the peer allows no more. */
  openRequest(): number {
    const stream = this.#connection.openStream(
      false,
      this.#carry(() => id),
    );
    const id = stream?.id ?? -1;
    if (stream !== undefined) this.#streams.set(id, stream);
    return id;
  }

  /** A stream that the peer has opened. */
  accept(stream: QuicStream): QuicStreamEvents {
    this.#streams.set(stream.id, stream);
    return this.#carry(() => stream.id);
  }

  isHeldUp(stream: number): boolean {
    return this.#streams.get(stream)?.isHeldUp ?? false;
  }

  /** Both directions are done. */
  forget(stream: number): void {
    this.#streams.delete(stream);
  }

  #carry(idOf: () => number): QuicStreamEvents {
    return {
      onData: (bytes, start, end, isEnd) => {
        this.#events.onBytes?.('received', end - start);
        this.#judge(this.h3.feed(idOf(), bytes, start, end, isEnd));
      },
      onReset: (code) => {
        this.#judge(this.h3.onReset(idOf(), code));
        this.#streams.delete(idOf());
      },
      onDrained: () => this.#events.onDrained?.(idOf()),
    };
  }

  #judge(error: { readonly code: number; readonly message: string } | undefined): void {
    if (error === undefined) return;
    this.#onFail(error.message);
    this.#connection.close(error.code);
  }

  #openControl(): number {
    const stream = this.#connection.openStream(true, { onData() {}, onReset() {} });
    if (stream === undefined) {
      this.#connection.close(h3Error.streamCreation);
      return -1;
    }
    this.#streams.set(stream.id, stream);
    return stream.id;
  }
}
