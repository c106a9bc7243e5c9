import { codeOf } from '../../net/error-kind.ts';
import type { Chunk, Connection, ConnectionEvents, Route, Transport } from '../../net/transport.ts';
import { type Channel, Inbox, type Wait } from './channel.ts';

/** A TCP connection. */
export class StreamChannel implements Channel, ConnectionEvents {
  readonly #inbox = new Inbox('stream');
  readonly #opened = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  #connection!: Connection;
  #isOver = false;

  /** Of a connection that was accepted. */
  static of(connection: Connection): StreamChannel {
    const channel = new StreamChannel();
    channel.#connection = connection;
    return channel;
  }

  /** Comes back once it stands, or with its failure once it cannot. */
  static async connect(transport: Transport, route: Route, timeoutMs: number): Promise<StreamChannel> {
    const channel = new StreamChannel();
    try {
      channel.#connection = transport.connect(route, channel);
    } catch (error) {
      channel.onClose(codeOf(error as Error));
      return channel;
    }
    const timer = setTimeout(() => {
      channel.#inbox.end('timeout');
      channel.reset();
    }, timeoutMs);
    await Promise.race([channel.#opened.promise, channel.#gone.promise]);
    clearTimeout(timer);
    return channel;
  }

  get length(): number {
    return this.#inbox.length;
  }
  get failure(): string | undefined {
    return this.#inbox.failure;
  }
  /** Resolves when the connection is no more. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  peek(): Buffer {
    return this.#inbox.peek();
  }
  take(count: number): Buffer {
    return this.#inbox.take(count);
  }
  wait(count: number, timeoutMs: number): Promise<Wait> {
    return this.#inbox.wait(count, timeoutMs);
  }

  send(bytes: Uint8Array): void {
    if (!this.#isOver && bytes.length > 0) this.#connection.write({ bytes, address: 0 });
  }

  close(): void {
    if (!this.#isOver) this.#connection.close();
  }

  reset(): void {
    if (!this.#isOver) this.#connection.reset();
  }

  onOpen(): void {
    this.#opened.resolve();
  }

  onData({ bytes, start, end }: Chunk): void {
    this.#inbox.add(Buffer.from(bytes.subarray(start, end)));
  }

  onEnd(): void {
    this.#inbox.end('closed');
  }

  onClose(code: string | undefined): void {
    this.#isOver = true;
    this.#inbox.end(code ?? 'closed');
    this.#gone.resolve();
  }
}
