import { errorCodeOf } from '../../../net/metrics/count-error.ts';
import type { Chunk, Connection, ConnectionEvents, Route, Transport } from '../../../net/transport/transport.ts';
import { InboxChannel } from './channel.ts';

/** A TCP connection, with or without TLS. */
export class StreamChannel extends InboxChannel implements ConnectionEvents {
  readonly #opened = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  #connection!: Connection;
  #isOver = false;

  constructor() {
    super('stream');
  }

  /** For an accepted connection. */
  static of(connection: Connection): StreamChannel {
    const channel = new StreamChannel();
    channel.#connection = connection;
    return channel;
  }

  /** Resolves when the connection is established or has failed; then `failure` is set. */
  static async connect(transport: Transport, route: Route, timeoutMs: number): Promise<StreamChannel> {
    const channel = new StreamChannel();
    try {
      channel.#connection = transport.connect(route, channel);
    } catch (error) {
      channel.onClose(errorCodeOf(error as Error));
      return channel;
    }
    const timer = setTimeout(() => {
      channel.inbox.end('timeout');
      channel.reset();
    }, timeoutMs);
    await Promise.race([channel.#opened.promise, channel.#gone.promise]);
    clearTimeout(timer);
    return channel;
  }

  /** Resolves when the connection is closed. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  override send(bytes: Uint8Array): void {
    if (!this.#isOver && bytes.length > 0) this.#connection.write({ bytes, address: 0 });
  }

  override close(): void {
    if (!this.#isOver) this.#connection.close();
  }

  override reset(): void {
    if (!this.#isOver) this.#connection.reset();
  }

  onOpen(): void {
    this.#opened.resolve();
  }

  onData({ bytes, start, end }: Chunk): void {
    this.inbox.add(Buffer.from(bytes.subarray(start, end)));
  }

  onEnd(): void {
    this.inbox.end('closed');
  }

  onClose(code: string | undefined): void {
    this.#isOver = true;
    this.inbox.end(code ?? 'closed');
    this.#gone.resolve();
  }
}
