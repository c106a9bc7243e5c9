import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Listen } from '@rushhour/protocol';
import { localEndpoint, openListener, option, setOption } from '../kernel/socket.ts';
import { Crowd } from '../loop/indexed-set.ts';
import { turnLoop } from '../loop/kernel-event-loop.ts';
import { Openings } from './connect-batcher.ts';
import { MessageStore } from './message-store.ts';
import type { SocketConnection } from './socket-connection.ts';
import { assertTunable, tuneSocket } from './tcp-tuning.ts';
import type { ConnectionEvents, ConnectionOptions, Listener, Route, Transport } from './transport.ts';

/** A way to wait for sockets of our own. */
export interface SocketSystem {
  readonly name: string;
  readonly now: number;
  create(options: ConnectionOptions, onGone: (connection: SocketConnection) => void): SocketConnection;
  /** Accepts until it is told to stop, which also closes the listening socket. */
  accept(fd: number, onAccepted: (fd: number) => void): () => void;
  /** Does something before the next wait, outside of the call that asks for it. */
  soon(action: () => void): void;
}

const backlog = 65_535;
const goodbyeMs = 500;

/** Connections on sockets of our own. */
class SocketTransport implements Transport {
  readonly name: string;
  readonly #system: SocketSystem;
  readonly #options: ConnectionOptions;
  readonly #messages = new MessageStore();
  readonly #connections = new Crowd<SocketConnection>();
  readonly #openings: Openings;
  #isClosed = false;

  constructor(system: SocketSystem, options: ConnectionOptions) {
    this.name = system.name;
    this.#system = system;
    this.#options = options;
    if (options.tuning !== undefined) assertTunable(options.tuning);
    this.#openings = new Openings(options, system.soon);
    turnLoop.acquire(options);
  }

  readonly createAlarm = (ring: () => void) => turnLoop.createAlarm(ring);

  keep(bytes: Uint8Array) {
    return this.#messages.keep(bytes);
  }

  connect(route: Route, events: ConnectionEvents) {
    const connection = this.#create();
    connection.events = events;
    this.#openings.add(connection, route);
    return connection;
  }

  async listen(
    where: Listen & { readonly isShared: boolean },
    accept: Parameters<Transport['listen']>[1],
  ): Promise<Listener> {
    const address = isIP(where.host) === 0 ? (await lookup(where.host)).address : where.host;
    const fd = openListener({ address, port: where.port, isShared: where.isShared }, backlog);
    // Accepted sockets inherit it.
    if (this.#options.noDelay) setOption(fd, option.noDelay, 1);
    if (this.#options.tuning !== undefined) tuneSocket(fd, this.#options.tuning);
    const { port } = localEndpoint(fd);
    const stop = this.#system.accept(fd, (accepted) => {
      const connection = this.#create();
      connection.events = accept(connection);
      connection.onAccepted(accepted);
    });
    return {
      port,
      async close() {
        stop();
      },
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const connection of this.#connections) connection.reset();
    const latest = performance.now() + goodbyeMs;
    while (this.#connections.size > 0 && performance.now() < latest) await new Promise(setImmediate);
    // A turn more, so that what was asked last has reached the kernel.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    turnLoop.release(this.#options);
    if (this.#connections.size > 0) return;
    this.#messages.release();
    this.#openings.close();
  }

  #create(): SocketConnection {
    const connection = this.#system.create(this.#options, this.#forget);
    this.#connections.add(connection);
    return connection;
  }

  readonly #forget = (connection: SocketConnection): void => {
    this.#connections.delete(connection);
  };
}

export const createSocketTransport = (system: SocketSystem, options: ConnectionOptions): Transport =>
  new SocketTransport(system, options);
