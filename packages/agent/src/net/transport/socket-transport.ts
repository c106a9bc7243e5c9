import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Listen } from '@rushhour/protocol';
import { type Memory, mapMemory } from '../kernel/memory.ts';
import { localEndpoint, openListener, option, setOption } from '../kernel/socket.ts';
import { IndexedSet } from '../loop/indexed-set.ts';
import { kernelEventLoop } from '../loop/kernel-event-loop.ts';
import { ConnectBatcher } from './connect-batcher.ts';
import type { SocketConnection } from './socket-connection.ts';
import { assertTunable, tuneSocket } from './tcp-tuning.ts';
import type { ConnectionEvents, ConnectionOptions, Listener, Message, Route, Transport } from './transport.ts';

const slabBytes = 65_536;
const alignment = 64;

/** Keeps messages in memory the kernel can read, for the lifetime of the transport. */
class MessageStore {
  readonly #memories: Memory[] = [];
  readonly #known = new WeakMap<Uint8Array, Message>();
  #slab: Memory | undefined;
  #used = 0;

  keep(bytes: Uint8Array): Message {
    const known = this.#known.get(bytes);
    if (known !== undefined) return known;
    const message = this.#store(bytes);
    this.#known.set(bytes, message);
    return message;
  }

  /** Only when nothing is being sent. */
  release(): void {
    for (const memory of this.#memories) memory.release();
    this.#memories.length = 0;
    this.#slab = undefined;
  }

  #store(bytes: Uint8Array): Message {
    const { length } = bytes;
    if (length === 0) return { bytes, address: 0 };
    const { memory, offset } =
      length > slabBytes / 4 ? { memory: this.#map(length), offset: 0 } : this.#allocate(length);
    // New mappings are zero. Left untouched they all share one physical page, which halves the cost of sending them.
    if (memory === this.#slab || bytes.some((byte) => byte !== 0)) memory.bytes.set(bytes, offset);
    return { bytes: memory.bytes.subarray(offset, offset + length), address: memory.addressOf(offset, length) };
  }

  #allocate(length: number): { memory: Memory; offset: number } {
    if (this.#slab === undefined || this.#used + length > slabBytes) {
      this.#slab = this.#map(slabBytes);
      this.#used = 0;
    }
    const offset = this.#used;
    this.#used = Math.ceil((offset + length) / alignment) * alignment;
    return { memory: this.#slab, offset };
  }

  #map(length: number): Memory {
    const memory = mapMemory({ length });
    this.#memories.push(memory);
    return memory;
  }
}

/** I/O on raw sockets by one kernel interface: epoll or io_uring. */
export interface SocketBackend {
  readonly name: string;
  readonly now: number;
  create(options: ConnectionOptions, onClosed: (connection: SocketConnection) => void): SocketConnection;
  /** Accepts until the returned function is called, which also closes the listening socket. */
  accept(fd: number, onAccepted: (fd: number) => void): () => void;
  /** Runs `action` before the next wait, outside of the current call. */
  defer(action: () => void): void;
}

const backlog = 65_535;
const closeGraceMs = 500;

/** TCP on raw sockets. */
class SocketTransport implements Transport {
  readonly name: string;
  readonly #backend: SocketBackend;
  readonly #options: ConnectionOptions;
  readonly #messages = new MessageStore();
  readonly #connections = new IndexedSet<SocketConnection>();
  readonly #connects: ConnectBatcher;
  #retransmits = 0;
  #walk: Iterator<SocketConnection> | undefined;
  #isClosed = false;

  constructor(backend: SocketBackend, options: ConnectionOptions) {
    this.name = backend.name;
    this.#backend = backend;
    this.#options = options;
    if (options.tuning !== undefined) assertTunable(options.tuning);
    this.#connects = new ConnectBatcher(options, backend.defer);
    kernelEventLoop.acquire(options);
  }

  readonly createAlarm = (onAlarm: () => void) => kernelEventLoop.createAlarm(onAlarm);

  prepareMessage(bytes: Uint8Array) {
    return this.#messages.keep(bytes);
  }

  connect(route: Route, events: ConnectionEvents) {
    const connection = this.#create();
    connection.events = events;
    this.#connects.add(connection, route);
    return connection;
  }

  async listen(
    where: Listen & { readonly isShared: boolean },
    accept: Parameters<Transport['listen']>[1],
  ): Promise<Listener> {
    const address = isIP(where.host) === 0 ? (await lookup(where.host)).address : where.host;
    const fd = openListener({ address, port: where.port, isShared: where.isShared }, backlog);
    // Accepted sockets inherit this option.
    if (this.#options.noDelay) setOption(fd, option.noDelay, 1);
    if (this.#options.tuning !== undefined) tuneSocket(fd, this.#options.tuning);
    const { port } = localEndpoint(fd);
    const stop = this.#backend.accept(fd, (accepted) => {
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

  retransmits(limit = Number.POSITIVE_INFINITY): number {
    for (let count = 0; count < Math.min(limit, this.#connections.size); count++) {
      this.#walk ??= this.#connections[Symbol.iterator]();
      const { value, done } = this.#walk.next();
      if (done === true) this.#walk = undefined;
      else value?.readRetransmits();
    }
    return this.#retransmits;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const connection of this.#connections) connection.reset();
    const deadline = performance.now() + closeGraceMs;
    while (this.#connections.size > 0 && performance.now() < deadline) await new Promise(setImmediate);
    // Another iteration, so that the last requests reach the kernel.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    kernelEventLoop.release(this.#options);
    if (this.#connections.size > 0) return;
    this.#messages.release();
    this.#connects.close();
  }

  #create(): SocketConnection {
    const connection = this.#backend.create(this.#options, this.#forget);
    if (this.#options.countsRetransmits) connection.onRetransmits = this.#onRetransmits;
    this.#connections.add(connection);
    return connection;
  }

  readonly #onRetransmits = (count: number): void => {
    this.#retransmits += count;
  };

  readonly #forget = (connection: SocketConnection): void => {
    this.#connections.delete(connection);
  };
}

export const createSocketTransport = (backend: SocketBackend, options: ConnectionOptions): Transport =>
  new SocketTransport(backend, options);
