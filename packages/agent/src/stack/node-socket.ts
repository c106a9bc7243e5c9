import { Duplex } from 'node:stream';
import type { Connection, ConnectionEvents, Route, Transport } from '../net/transport/transport.ts';
import type { StackConnection } from './stack-connection.ts';

/** A connection of a transport as a stream of Node, so that its TLS and HTTP/2 can use it. */
export class NodeSocket extends Duplex implements ConnectionEvents {
  connecting: boolean;
  localAddress: string | undefined;
  localPort: number | undefined;
  remoteAddress: string | undefined;
  remotePort: number | undefined;
  #connection: Connection | undefined;
  #written: (() => void) | undefined;
  #isClosed = false;

  constructor(route?: Route) {
    super({ allowHalfOpen: true });
    this.connecting = route !== undefined;
    this.remoteAddress = route?.address;
    this.remotePort = route?.port;
  }

  /** Attaches the connection whose events this stream gets. */
  attach(connection: Connection): this {
    this.#connection = connection;
    if (!this.connecting) this.#readEndpoints();
    return this;
  }

  onOpen(): void {
    this.connecting = false;
    this.#readEndpoints();
    this.emit('connect');
    this.emit('ready');
  }

  onData({ bytes, start, end }: Parameters<ConnectionEvents['onData']>[0]): void {
    this.push(Buffer.from(bytes.subarray(start, end)));
  }

  onSent(): void {
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }

  onEnd(): void {
    this.push(null);
  }

  onClose(code: string | undefined): void {
    this.#isClosed = true;
    const error = code === undefined ? null : Object.assign(new Error(`connection closed: ${code}`), { code });
    if (!this.destroyed) this.push(null);
    this.destroy(error ?? undefined);
  }

  override _read(): void {}

  override _write(bytes: Uint8Array, _encoding: string, done: (error?: Error) => void): void {
    if (this.#isClosed) {
      done(Object.assign(new Error('write after close'), { code: 'EPIPE' }));
      return;
    }
    this.#written = done;
    this.#connection?.writeCopy(bytes);
  }

  override _final(done: () => void): void {
    this.#connection?.close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.#isClosed && !this.writableFinished) this.#connection?.reset();
    else if (!this.#isClosed) this.#connection?.close();
    this.#onDestroyed();
    done(error);
  }

  resetAndDestroy(): this {
    this.#connection?.reset();
    return this.destroy();
  }

  // Options of kernel sockets: the stack has its own.
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  setTimeout(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  #readEndpoints(): void {
    Object.assign(this, (this.#connection as StackConnection).endpoints);
  }

  #onDestroyed(): void {
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }
}

/** Opens a connection of a transport as a stream of Node. */
export const dialNodeSocket = (transport: Transport, route: Route): NodeSocket => {
  const socket = new NodeSocket(route);
  return socket.attach(transport.connect(route, socket));
};
