import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Listen } from '@rushhour/protocol';
import { openClientSocket } from './client-socket.ts';
import { Crowd } from './crowd.ts';
import { SystemError } from './kernel/errno.ts';
import { localEndpoint, openListener, option, setOption } from './kernel/socket.ts';
import { MessageStore } from './message-store.ts';
import type { SocketConnection } from './socket-connection.ts';
import type { ConnectionEvents, ConnectionOptions, Listener, Route, Transport } from './transport.ts';
import { assertTunable, tuneSocket } from './tuning.ts';
import { turnLoop } from './turn-loop.ts';

/** A connection on a socket of our own, before it is under way. */
export interface OwnConnection extends SocketConnection {
  connect(route: Route): void;
  /** For one that was accepted. */
  begin(): void;
}

/** A way to wait for sockets of our own. */
export interface SocketSystem {
  readonly name: string;
  readonly now: number;
  /** Opens a socket without calls of its own and connects it, where the system and the route allow. */
  open?(
    route: Route,
    options: ConnectionOptions,
    onGone: (connection: OwnConnection) => void,
  ): OwnConnection | undefined;
  create(fd: number, options: ConnectionOptions, onGone: (connection: OwnConnection) => void): OwnConnection;
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
  readonly #connections = new Crowd<OwnConnection>();
  #isClosed = false;

  constructor(system: SocketSystem, options: ConnectionOptions) {
    this.name = system.name;
    this.#system = system;
    this.#options = options;
    if (options.tuning !== undefined) assertTunable(options.tuning);
    turnLoop.acquire(options);
  }

  readonly createAlarm = (ring: () => void) => turnLoop.createAlarm(ring);

  keep(bytes: Uint8Array) {
    return this.#messages.keep(bytes);
  }

  connect(route: Route, events: ConnectionEvents) {
    const opened = this.#system.open?.(route, this.#options, this.#forget);
    if (opened !== undefined) return this.#begin(opened, events);
    let fd: number;
    try {
      fd = openClientSocket(route, this.#options);
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      this.#system.soon(() => events.onClose(error.code, this.#system.now));
      return { write() {}, writeCopy() {}, close() {}, reset() {} };
    }
    const connection = this.#begin(this.#system.create(fd, this.#options, this.#forget), events);
    connection.connect(route);
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
      const connection = this.#system.create(accepted, this.#options, this.#forget);
      this.#connections.add(connection);
      connection.events = accept(connection);
      connection.begin();
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
    if (this.#connections.size === 0) this.#messages.release();
  }

  #begin(connection: OwnConnection, events: ConnectionEvents): OwnConnection {
    connection.events = events;
    this.#connections.add(connection);
    return connection;
  }

  readonly #forget = (connection: OwnConnection): void => {
    this.#connections.delete(connection);
  };
}

export const createSocketTransport = (system: SocketSystem, options: ConnectionOptions): Transport =>
  new SocketTransport(system, options);
