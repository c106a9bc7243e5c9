import type { Datagram, DatagramSocket } from '../datagram/datagram-transport.ts';

const longHeader = 0x80;
/** OpenSSL gives its connections numbers of 8 bytes. */
const connectionIdBytes = 8;
/** A client has few connections; what comes beyond is followed to no other address. */
const maxConnections = 16;
/** What was still on its way from the address before does not lead back to it. */
const settleMs = 100;
/** A first packet fills a datagram of this size (RFC 9000, 14.1): nothing is kept of others from unknown addresses. */
const minFirstBytes = 1200;
/** A flow from which nothing came for longer has ended: connections without traffic last half a minute. */
const forgetAfterMs = 300_000;
/** The same for those that have never had a connection. */
const forgetUnusedAfterMs = 60_000;
const sweepMs = 30_000;
const two32 = 4_294_967_296;
/** As many bits of the number of a connection as a number holds. */
const highBits = 0x1f_ffff;

interface Flow {
  /** What OpenSSL takes for its address. */
  readonly number: number;
  from: number;
  send: (bytes: Uint8Array, token: number) => void;
  usedAt: number;
  movedAt: number;
  readonly connections: number[];
}

/** The connection that a packet is for, if its header is short: then the number is one that OpenSSL has chosen. */
const connectionOf = ({ bytes, start, end }: Datagram): number | undefined => {
  if (end - start <= connectionIdBytes || ((bytes[start] as number) & longHeader) !== 0) return undefined;
  return (bytes.readUInt32LE(start + 1) & highBits) * two32 + bytes.readUInt32LE(start + 5);
};

const mayBegin = ({ bytes, start, end }: Datagram): boolean =>
  end - start >= minFirstBytes && ((bytes[start] as number) & longHeader) !== 0;

/**
 * The clients of a server by numbers that stay when their addresses change: a packet of a known connection that comes
 * from elsewhere moves its client there, as when a NAT has forgotten it.
 */
export class Flows {
  readonly #byNumber = new Map<number, Flow>();
  readonly #byAddress = new Map<number, Flow>();
  readonly #byConnection = new Map<number, Flow>();
  readonly #onMove: (() => void) | undefined;
  #last = 0;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(onMove?: () => void) {
    this.#onMove = onMove;
  }

  get size(): number {
    return this.#byNumber.size;
  }

  /**
   * The number of the client that a datagram comes from, whose answers go where it was sent from; undefined if it
   * belongs to no connection and can begin none.
   */
  numberOf(datagram: Datagram, socket: DatagramSocket): number | undefined {
    const { now } = datagram;
    const connection = connectionOf(datagram);
    const moved = connection === undefined ? undefined : this.#byConnection.get(connection);
    const known = moved ?? this.#byAddress.get(datagram.from);
    if (now - this.#sweptAt > sweepMs) this.#sweep(now);
    if (known === undefined && !mayBegin(datagram)) return undefined;
    const flow = known ?? this.#create(datagram, socket);
    flow.usedAt = now;
    if (flow.from !== datagram.from) this.#move(flow, datagram, socket);
    if (moved === undefined && connection !== undefined && flow.connections.length < maxConnections) {
      flow.connections.push(connection);
      this.#byConnection.set(connection, flow);
    }
    return flow.number;
  }

  send(number: number, bytes: Uint8Array): void {
    this.#byNumber.get(number)?.send(bytes, 0);
  }

  clear(): void {
    for (const flows of [this.#byNumber, this.#byAddress, this.#byConnection]) flows.clear();
  }

  #create(datagram: Datagram, socket: DatagramSocket): Flow {
    const { from, now } = datagram;
    this.#last = (this.#last + 1) >>> 0;
    const send = socket.createReply(datagram);
    const flow = { number: this.#last, from, send, usedAt: now, movedAt: Number.NEGATIVE_INFINITY, connections: [] };
    this.#byNumber.set(flow.number, flow);
    this.#byAddress.set(from, flow);
    return flow;
  }

  #move(flow: Flow, datagram: Datagram, socket: DatagramSocket): void {
    const { from, now } = datagram;
    if (now - flow.movedAt < settleMs) return;
    if (this.#byAddress.get(flow.from) === flow) this.#byAddress.delete(flow.from);
    flow.from = from;
    flow.send = socket.createReply(datagram);
    flow.movedAt = now;
    this.#byAddress.set(from, flow);
    this.#onMove?.();
  }

  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const flow of this.#byNumber.values()) {
      if (now - flow.usedAt <= (flow.connections.length > 0 ? forgetAfterMs : forgetUnusedAfterMs)) continue;
      this.#byNumber.delete(flow.number);
      if (this.#byAddress.get(flow.from) === flow) this.#byAddress.delete(flow.from);
      for (const connection of flow.connections) this.#byConnection.delete(connection);
    }
  }
}
