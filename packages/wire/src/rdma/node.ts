import type { Memory } from '../bytes/memory.ts';
import {
  type ConnectionMessage,
  connectionMessage,
  connectionMessageBytes,
  type Gids,
  parseConnectionMessage,
  writeConnectionMessage,
} from './connection-message.ts';
import type { RdmaOutput } from './output.ts';
import { RdmaPacket } from './packet.ts';
import { QueuePair, type QueuePairOptions } from './queue-pair.ts';
import type { RequesterEvents } from './requester.ts';

export interface NodeOutput extends RdmaOutput {
  /** The following packets go from a host to this flow. */
  aim(key: Int32Array, path: number): void;
}

/** What a node makes for each queue pair. */
export interface ConnectionHandler extends RequesterEvents {
  onReady?(pair: QueuePair, nowUs: number): void;
  /** The far end does not answer, has refused or has ended the connection. */
  onLost(reason: 'unreachable' | 'rejected' | 'disconnected', nowUs: number): void;
}

interface Connection {
  readonly id: number;
  /** Of a passive one: remote address and the id that the other end has given. */
  name: string;
  readonly key: Int32Array;
  readonly path: number;
  readonly handler: ConnectionHandler;
  readonly localQp: number;
  readonly localPsn: number;
  readonly options: QueuePairOptions;
  remoteId: number;
  transaction: bigint;
  state: 'requested' | 'replied' | 'ready' | 'ended';
  pair: QueuePair | undefined;
  attempts: number;
  nextAttemptUs: number;
  owed: ConnectionMessage | undefined;
}

export interface NodeOptions {
  readonly random: () => number;
  /** Options of queue pairs that others ask for; undefined: they are rejected. */
  accept?(mtu: number, key: number): { options: QueuePairOptions; handler: ConnectionHandler } | undefined;
  /** Source port of the flow of a queue pair. */
  portOf(localQp: number): number;
}

const attemptUs = 250_000;
const maxAttempts = 20;
const firstQp = 0x11;
const destinationPort = 4791;
const gidBytes = 16;

const gidOf = (key: Int32Array, at: number): Uint8Array => {
  const bytes = new Uint8Array(gidBytes);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < 4; i++) view.setInt32(i * 4, key[at + i] as number);
  return bytes;
};

/** Queue pairs of the hosts of one interface, and the manager that connects them. */
export class RdmaNode {
  readonly #output: NodeOutput;
  readonly #options: NodeOptions;
  readonly #packet = new RdmaPacket();
  readonly #connections = new Map<number, Connection>();
  readonly #passive = new Map<string, Connection>();
  readonly #byQp = new Map<number, Connection>();
  /** In turn, so that none is preferred. */
  readonly #order: Connection[] = [];
  #position = 0;
  #nextQp = firstQp;
  #nextId: number;
  #managementPsn = 0;

  constructor(output: NodeOutput, options: NodeOptions) {
    this.#output = output;
    this.#options = options;
    this.#nextId = Math.floor(options.random() * 2 ** 31);
  }

  get pairs(): readonly QueuePair[] {
    return this.#order.flatMap(({ pair }) => pair ?? []);
  }

  /** Opens a connection from a host; `key`: own and remote address. */
  connect(
    key: Int32Array,
    path: number,
    { options, handler }: { options: QueuePairOptions; handler: ConnectionHandler },
  ): void {
    const connection = this.#add({ key, path, options, handler });
    connection.owed = this.#messageOf(connection, connectionMessage.request);
    connection.nextAttemptUs = 0;
  }

  /** A packet behind its UDP header. */
  receive(
    arrival: { readonly key: Int32Array; readonly path: number; readonly isMarked: boolean },
    memory: Memory,
    start: number,
    end: number,
    nowUs: number,
  ): void {
    const packet = this.#packet;
    if (!packet.parse(memory, start, end)) return;
    const connection = this.#byQp.get(packet.destinationQp);
    if (connection !== undefined) {
      if (connection.pair === undefined) return;
      this.#ready(connection, nowUs);
      connection.pair.receive(packet, arrival.isMarked, nowUs);
      return;
    }
    const message = parseConnectionMessage(packet, memory);
    if (message !== undefined) this.#manage(message, arrival, nowUs);
  }

  /** Sends what is due, at most `budget` packets; returns how many. */
  transmit(nowUs: number, budget: number): number {
    const order = this.#order;
    let sent = 0;
    for (let visited = 0; visited < order.length && sent < budget; visited++) {
      this.#position = (this.#position + 1) % order.length;
      const connection = order[this.#position] as Connection;
      this.#output.aim(connection.key, connection.path);
      if (connection.owed !== undefined && nowUs >= connection.nextAttemptUs) sent += this.#sendOwed(connection, nowUs);
      if (connection.state === 'ready' || connection.state === 'replied')
        sent += connection.pair?.transmit(this.#output, nowUs, Math.min(budget - sent, packetsPerPair)) ?? 0;
    }
    return sent;
  }

  /** Ends all connections and tells the other ends. */
  close(): void {
    for (const connection of [...this.#order]) this.#disconnect(connection);
  }

  /** Ends the connection of a pair, such as one that has failed. */
  drop(pair: QueuePair): void {
    const connection = this.#byQp.get(pair.link.localQp);
    if (connection !== undefined) this.#disconnect(connection);
  }

  #disconnect(connection: Connection): void {
    const isReady = connection.state === 'ready';
    this.#forget(connection);
    if (!isReady) return;
    this.#output.aim(connection.key, connection.path);
    const message = this.#messageOf(connection, connectionMessage.disconnect);
    this.#write(connection, { ...message, qp: connection.pair?.link.remote.qp ?? 0 });
  }

  #forget(connection: Connection): void {
    connection.state = 'ended';
    connection.owed = undefined;
    this.#connections.delete(connection.id);
    this.#byQp.delete(connection.localQp);
    this.#passive.delete(connection.name);
    const index = this.#order.indexOf(connection);
    if (index >= 0) this.#order.splice(index, 1);
  }

  #add({
    key,
    path,
    options,
    handler,
  }: Pick<Connection, 'path' | 'options' | 'handler'> & { key: Int32Array }): Connection {
    const localQp = this.#nextQp++;
    const own = new Int32Array(9);
    own.set(key.subarray(0, 8));
    own[8] = (this.#options.portOf(localQp) << 16) | destinationPort;
    const connection: Connection = {
      id: this.#nextId++,
      name: '',
      key: own,
      path,
      handler,
      options,
      localQp,
      localPsn: Math.floor(this.#options.random() * 2 ** 24),
      remoteId: 0,
      transaction: BigInt(Math.floor(this.#options.random() * 2 ** 32)) + 1n,
      state: 'requested',
      pair: undefined,
      attempts: 0,
      nextAttemptUs: 0,
      owed: undefined,
    };
    this.#connections.set(connection.id, connection);
    this.#byQp.set(localQp, connection);
    this.#order.push(connection);
    return connection;
  }

  #messageOf(connection: Connection, type: ConnectionMessage['type']): ConnectionMessage {
    const { responder } = connection.options;
    const { address, key, bytes } = responder.region;
    return {
      type,
      transaction: connection.transaction,
      localId: connection.id,
      remoteId: connection.remoteId,
      qp: connection.localQp,
      psn: connection.localPsn,
      mtu: responder.mtu,
      address,
      key,
      bytes,
    };
  }

  #sendOwed(connection: Connection, nowUs: number): number {
    const { owed } = connection;
    if (owed === undefined) return 0;
    if (++connection.attempts > maxAttempts) {
      connection.owed = undefined;
      if (connection.state !== 'requested') return 0;
      this.#forget(connection);
      connection.handler.onLost('unreachable', nowUs);
      return 0;
    }
    connection.nextAttemptUs = nowUs + attemptUs;
    return this.#write(connection, owed) ? 1 : 0;
  }

  #write({ key }: Connection, message: ConnectionMessage): boolean {
    const at = this.#output.begin(connectionMessageBytes, 'control');
    if (at < 0) return false;
    const gids: Gids = { source: gidOf(key, 0), destination: gidOf(key, 4) };
    writeConnectionMessage(this.#output.memory, at, message, { gids, psn: this.#managementPsn++ });
    this.#output.commit(at, connectionMessageBytes);
    return true;
  }

  #manage(message: ConnectionMessage, arrival: { key: Int32Array; path: number }, nowUs: number): void {
    if (message.type === connectionMessage.request) {
      this.#accept(message, arrival);
      return;
    }
    const connection = this.#connections.get(message.remoteId);
    if (connection === undefined) return;
    if (message.type === connectionMessage.reply) this.#take(connection, message, nowUs);
    else if (message.type === connectionMessage.ready) this.#ready(connection, nowUs);
    else this.#end(connection, message, nowUs);
  }

  /** A request; one that comes again is answered as before. */
  #accept(message: ConnectionMessage, { key, path }: { key: Int32Array; path: number }): void {
    const name = `${key.subarray(4, 8).join(' ')} ${message.localId}`;
    const known = this.#passive.get(name);
    if (known !== undefined) {
      if (known.state === 'replied') known.nextAttemptUs = 0;
      return;
    }
    const accepted = this.#options.accept?.(message.mtu, message.bytes);
    if (accepted === undefined) return;
    const connection = this.#add({ key: key.slice(), path, ...accepted });
    connection.remoteId = message.localId;
    connection.transaction = message.transaction;
    connection.state = 'replied';
    connection.pair = this.#pairOf(connection, message);
    connection.owed = this.#messageOf(connection, connectionMessage.reply);
    connection.name = name;
    this.#passive.set(name, connection);
  }

  #take(connection: Connection, message: ConnectionMessage, nowUs: number): void {
    if (connection.state === 'requested') {
      connection.remoteId = message.localId;
      connection.pair = this.#pairOf(connection, message);
      connection.owed = undefined;
      connection.state = 'ready';
      connection.handler.onReady?.(connection.pair, nowUs);
    }
    this.#output.aim(connection.key, connection.path);
    this.#write(connection, this.#messageOf(connection, connectionMessage.ready));
  }

  /** The first packet of a connection says the same as the message that it is ready. */
  #ready(connection: Connection, nowUs: number): void {
    if (connection.state !== 'replied' || connection.pair === undefined) return;
    connection.state = 'ready';
    connection.owed = undefined;
    connection.handler.onReady?.(connection.pair, nowUs);
  }

  #end(connection: Connection, message: ConnectionMessage, nowUs: number): void {
    const isRejected = message.type === connectionMessage.reject;
    this.#forget(connection);
    if (message.type === connectionMessage.disconnect) {
      this.#output.aim(connection.key, connection.path);
      this.#write(connection, this.#messageOf(connection, connectionMessage.disconnected));
    }
    connection.handler.onLost(isRejected ? 'rejected' : 'disconnected', nowUs);
  }

  #pairOf(
    { options, localQp, localPsn, handler }: Connection,
    { qp, psn, address, key }: ConnectionMessage,
  ): QueuePair {
    return new QueuePair(options, { localQp, localPsn, remotePsn: psn, remote: { qp, address, key } }, handler);
  }
}

const packetsPerPair = 16;
