import { Duplex } from 'node:stream';
import type { Chunk, Connection, ConnectionEvents } from './transport.ts';

/**
 * A connection of a transport as a stream of Node, for protocols that Node serves. Nothing holds back a peer that reads
 * slowly: for short messages only.
 */
export class ConnectionDuplex extends Duplex implements ConnectionEvents {
  readonly #connection: Connection;
  #hasEnded = false;

  constructor(connection: Connection) {
    super({ allowHalfOpen: false });
    this.#connection = connection;
  }

  onOpen(): void {}

  onData({ bytes, start, end }: Chunk): void {
    this.push(Buffer.from(bytes.subarray(start, end)));
  }

  onEnd(): void {
    this.#end();
  }

  onClose(code: string | undefined): void {
    this.#end();
    this.destroy(code === undefined ? undefined : Object.assign(new Error(code), { code }));
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#connection.writeCopy(bytes);
    done();
  }

  override _final(done: () => void): void {
    this.#connection.close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#connection.close();
    done(error);
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.push(null);
  }
}
