import type { Socket } from 'node:net';
import { createNodeAlarm } from '../loop/alarm.ts';
import { errorCodeOf } from '../metrics/count-error.ts';
import type { Connection, ConnectionEvents, Message, Transport } from './transport.ts';

/** A socket of Node, or of an emulated host in its shape, as a connection. */
export class GivenConnection implements Connection {
  readonly socket: Socket;
  readonly #events: ConnectionEvents;
  #code: string | undefined;

  constructor(socket: Socket, accept: (connection: Connection) => ConnectionEvents) {
    this.socket = socket;
    const events = accept(this);
    this.#events = events;
    socket.on('data', (bytes: Buffer) => events.onData({ bytes, start: 0, end: bytes.length, now: performance.now() }));
    socket.on('end', () => (events.onEnd === undefined ? this.close() : events.onEnd()));
    socket.on('error', (error) => {
      this.#code ??= errorCodeOf(error);
    });
    socket.on('close', () => events.onClose(this.#code, performance.now()));
  }

  write({ bytes }: Message): void {
    this.writeCopy(bytes);
  }

  writeCopy(bytes: Uint8Array): void {
    this.socket.write(Buffer.from(bytes), (error) => {
      if (!error && this.socket.writableLength === 0) this.#events.onSent?.(performance.now());
    });
  }

  close(): void {
    this.socket.end();
  }

  reset(): void {
    this.socket.destroy();
  }
}

/** Connections of sockets that others have accepted. */
export interface GivenSockets extends Transport {
  take(socket: Socket): void;
}

const onlyTakes = (): never => {
  throw new Error('this transport opens no connections');
};

export const createGivenSockets = (): GivenSockets => {
  let accepting: ((connection: Connection) => ConnectionEvents) | undefined;
  return {
    name: 'sockets of Node',
    createAlarm: createNodeAlarm,
    prepareMessage: (bytes) => ({ bytes, address: 0 }),
    connect: onlyTakes,
    async listen(_where, accept) {
      accepting = accept;
      return { port: 0, close: async () => {} };
    },
    take(socket) {
      if (accepting !== undefined) new GivenConnection(socket, accepting);
    },
    async close() {},
  };
};
