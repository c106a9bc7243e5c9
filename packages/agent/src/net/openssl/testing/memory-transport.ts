import { createNodeAlarm } from '../../loop/alarm.ts';
import type { Connection, ConnectionEvents, Message, Transport } from '../../transport/transport.ts';

type Mutate = (bytes: Uint8Array) => Uint8Array;

/** Carries bytes between two sides in one thread, one delivery at a time. */
export class MemoryNetwork {
  readonly #queue: (() => void)[] = [];
  readonly #mutate: Mutate;

  constructor(mutate: Mutate = (bytes) => bytes) {
    this.#mutate = mutate;
  }

  post(delivery: () => void): void {
    this.#queue.push(delivery);
  }

  mutate(bytes: Uint8Array): Uint8Array {
    return this.#mutate(bytes);
  }

  /** Delivers until nothing is on its way. */
  run(): void {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) next();
  }
}

class MemoryConnection implements Connection {
  events!: ConnectionEvents;
  peer!: MemoryConnection;
  readonly #network: MemoryNetwork;
  #isClosed = false;
  #hasSentEnd = false;
  #hasEnded = false;

  constructor(network: MemoryNetwork) {
    this.#network = network;
  }

  write({ bytes }: Message): void {
    this.writeCopy(bytes);
  }

  writeCopy(bytes: Uint8Array): void {
    const sent = Buffer.from(this.#network.mutate(new Uint8Array(bytes)));
    this.#network.post(() => this.peer.receive(sent));
  }

  close(): void {
    if (this.#hasSentEnd || this.#isClosed) return;
    this.#hasSentEnd = true;
    this.#network.post(() => this.peer.end());
    if (this.#hasEnded) this.#network.post(() => this.finish());
  }

  reset(): void {
    this.#network.post(() => this.peer.finish('ECONNRESET'));
    this.#network.post(() => this.finish());
  }

  receive(bytes: Buffer): void {
    if (!this.#isClosed) this.events.onData({ bytes, start: 0, end: bytes.length, now: performance.now() });
  }

  end(): void {
    if (this.#isClosed) return;
    this.#hasEnded = true;
    if (this.#hasSentEnd) this.finish();
    else if (this.events.onEnd === undefined) this.close();
    else this.events.onEnd();
  }

  finish(code?: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.events.onClose(code, performance.now());
  }
}

/** A transport whose connections all reach the same listener. */
export const createMemoryTransport = (network: MemoryNetwork): Transport => {
  let accepting: ((connection: Connection) => ConnectionEvents) | undefined;
  return {
    name: 'memory',
    createAlarm: createNodeAlarm,
    prepareMessage: (bytes) => ({ bytes, address: 0 }),
    connect(_route, events) {
      const [near, far] = [new MemoryConnection(network), new MemoryConnection(network)];
      [near.peer, far.peer] = [far, near];
      near.events = events;
      network.post(() => {
        far.events = (accepting as NonNullable<typeof accepting>)(far);
        events.onOpen(performance.now());
      });
      return near;
    },
    async listen(_where, accept) {
      accepting = accept;
      return { port: 0, close: async () => {} };
    },
    async close() {},
  };
};
