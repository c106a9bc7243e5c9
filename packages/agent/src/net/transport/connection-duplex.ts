import { Duplex } from 'node:stream';
import type { Chunk, Connection, ConnectionEvents } from './transport.ts';

/** Ends a stream and closes it once everything is written. */
export const closeWhenWritten = (stream: Duplex): void => {
  if (stream.writable) stream.end();
  if (stream.writableFinished) stream.destroy();
  else stream.once('finish', () => stream.destroy());
};

/** A connection of a transport as a stream of Node, for protocols that Node serves. A peer that writes is not held back. */
export class ConnectionDuplex extends Duplex implements ConnectionEvents {
  readonly #connection: Connection;
  #written: (() => void) | undefined;
  #hasEnded = false;

  constructor(connection: Connection, { allowHalfOpen = false } = {}) {
    super({ allowHalfOpen });
    this.#connection = connection;
  }

  onOpen(): void {}

  onData({ bytes, start, end }: Chunk): void {
    this.push(Buffer.from(bytes.subarray(start, end)));
  }

  onSent(): void {
    const done = this.#written;
    this.#written = undefined;
    done?.();
  }

  onEnd(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.push(null);
  }

  onClose(code: string | undefined): void {
    this.onEnd();
    // A stream that is read to its end closes by itself.
    if (code !== undefined) this.destroy(Object.assign(new Error(code), { code }));
    else if (this.readableEnded) this.destroy();
    else this.once('end', () => this.destroy());
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    if (bytes.length === 0) {
      done();
      return;
    }
    this.#written = done;
    this.#connection.writeCopy(bytes);
  }

  override _final(done: () => void): void {
    this.#connection.close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#connection.close();
    done(error);
  }
}
