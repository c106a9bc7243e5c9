import type { Datagram, DatagramEvents, DatagramSocket } from '../datagram/datagram-transport.ts';
import { type Memory, mapMemory, writeAddress } from '../kernel/memory.ts';
import { family } from '../kernel/socket-address.ts';
import { requireOpenssl } from '../openssl/library.ts';
import { type DatagramPair, openDatagramPair } from './datagram-pair.ts';
import type { CarriedEndpoint, QuicCarrier } from './quic-carrier.ts';

const maxDatagram = 2048;
/** Of `BIO_MSG`: addresses of the data, its length, addresses of both ends, flags. */
const [messageBytes, dataAt, lengthAt, remoteAt, localAt] = [40, 0, 8, 16, 24] as const;
/** Room for a `BIO_ADDR`. */
const addressBytes = 128;
const batch = 64;
const peersAt = batch * messageBytes;
const bytesAt = peersAt + batch * addressBytes;
const injectedAt = bytesAt + batch * maxDatagram;
const injectedPeerAt = injectedAt + maxDatagram;
const anyPort = 443;
const theOnlyFlow = 1;
/** A flow from which nothing came for longer has ended: connections without traffic last half a minute. */
const forgetAfterMs = 300_000;
const sweepMs = 60_000;

/** The buffers of one thread: their content does not outlive a call. */
class Buffers {
  readonly memory: Memory = mapMemory({ length: injectedPeerAt + addressBytes + 8 });
  readonly words = this.memory.int32;

  /** Makes all messages ready to take datagrams of any length. */
  prepare(): number {
    const { memory, words } = this;
    for (let index = 0; index < batch; index++) {
      const at = (index * messageBytes) / 4;
      const data = memory.addressOf(bytesAt + index * maxDatagram, maxDatagram);
      writeAddress(words, at + dataAt / 4, data);
      writeAddress(words, at + lengthAt / 4, maxDatagram);
      writeAddress(words, at + remoteAt / 4, 0);
      writeAddress(words, at + localAt / 4, memory.addressOf(peersAt + index * addressBytes, addressBytes));
    }
    return memory.addressOf(0, batch * messageBytes);
  }
}

let made: Buffers | undefined;
const buffers = (): Buffers => {
  made ??= new Buffers();
  return made;
};

type Send = (bytes: Uint8Array, token: number) => void;

interface Flow {
  readonly send: Send;
  usedAt: number;
}

interface HostCarrierOptions {
  /** Opens the socket whose datagrams are those of the endpoint. */
  open(events: DatagramEvents): Promise<DatagramSocket>;
  /** Many peers; otherwise the socket is connected. */
  readonly isServer: boolean;
}

/**
 * Datagrams of emulated hosts. OpenSSL sees numbers of flows in place of addresses, so that one listener serves all
 * hosts and answers from the one that was asked.
 */
export class HostCarrier implements QuicCarrier, DatagramEvents {
  readonly #openssl = requireOpenssl();
  readonly #options: HostCarrierOptions;
  readonly #flows = new Map<number, Flow>();
  readonly #isOpen: Promise<void>;
  #pair: DatagramPair | undefined;
  #endpoint: CarriedEndpoint | undefined;
  #socket: DatagramSocket | undefined;
  #sweptAt = performance.now();
  #isClosed = false;

  constructor(options: HostCarrierOptions) {
    this.#options = options;
    this.#isOpen = options.open(this).then((socket) => {
      if (this.#isClosed) socket.close();
      else this.#socket = socket;
      this.#endpoint?.touch();
    });
    this.#isOpen.catch((error: NodeJS.ErrnoException) => this.#endpoint?.onCarrierError(error.code ?? 'error'));
  }

  /** Rejects if the hosts cannot receive. */
  opened(): Promise<void> {
    return this.#isOpen;
  }

  attach(endpoint: CarriedEndpoint, ssl: number): void {
    const { isServer } = this.#options;
    this.#endpoint = endpoint;
    this.#pair = openDatagramPair(isServer);
    this.#openssl.SSL_set_bio(ssl, this.#pair.inner, this.#pair.inner);
    if (!isServer) this.#openssl.SSL_set1_initial_peer_addr(ssl, this.#peerOf(theOnlyFlow));
  }

  drain(): boolean {
    if (this.#pair === undefined || this.#isClosed || this.#socket === undefined) return false;
    const { memory } = buffers();
    let hasMore = false;
    for (;;) {
      const count = this.#take(this.#pair.outer);
      for (let index = 0; index < count; index++) {
        const length = memory.bytes.readUInt32LE(index * messageBytes + lengthAt);
        const at = bytesAt + index * maxDatagram;
        this.#send(
          memory.bytes.readUInt32LE(peersAt + index * addressBytes + 4),
          memory.bytes.subarray(at, at + length),
        );
      }
      if (count < batch) return hasMore;
      hasMore = true;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket?.close();
    this.#flows.clear();
    if (this.#pair !== undefined) this.#openssl.BIO_free(this.#pair.outer);
  }

  onMessage(datagram: Datagram): void {
    const endpoint = this.#endpoint;
    const length = datagram.end - datagram.start;
    if (endpoint === undefined || endpoint.root === 0 || this.#isClosed || length > maxDatagram) return;
    const { memory } = buffers();
    memory.bytes.set(datagram.bytes.subarray(datagram.start, datagram.end), injectedAt);
    const peer = this.#peerOf(this.#options.isServer ? this.#flowOf(datagram) : theOnlyFlow);
    this.#openssl.SSL_inject_net_dgram(endpoint.root, memory.addressOf(injectedAt, length), length, peer, 0);
    endpoint.touch();
  }

  onSent(): void {}

  /** What is not sent counts as lost on the way. */
  onFail(): void {}

  /** Clients on kernel sockets do not hear of refused datagrams either. */
  onError(): void {}

  /** Where the address that stands for a flow is written, a `sockaddr_in`. */
  #peerOf(flow: number): number {
    const { memory } = buffers();
    const { bytes } = memory;
    bytes.writeUInt16LE(family.inet, injectedPeerAt);
    bytes.writeUInt16BE(anyPort, injectedPeerAt + 2);
    bytes.writeUInt32LE(flow, injectedPeerAt + 4);
    return memory.addressOf(injectedPeerAt, addressBytes);
  }

  /** How many datagrams OpenSSL has written, at most a batch. */
  #take(outer: number): number {
    const { memory } = buffers();
    const count = memory.addressOf(injectedPeerAt + addressBytes, 8);
    const first = buffers().prepare();
    if (this.#openssl.BIO_recvmmsg(outer, first, messageBytes, batch, 0, count) === 1)
      return memory.bytes.readUInt32LE(injectedPeerAt + addressBytes);
    this.#openssl.ERR_clear_error();
    return 0;
  }

  #send(flow: number, bytes: Uint8Array): void {
    if (this.#options.isServer) this.#flows.get(flow)?.send(bytes, 0);
    else this.#socket?.send(bytes, 0);
  }

  #flowOf(datagram: Datagram): number {
    const { from, now } = datagram;
    const known = this.#flows.get(from);
    if (known !== undefined) known.usedAt = now;
    else if (this.#socket !== undefined)
      this.#flows.set(from, { send: this.#socket.createReply(datagram), usedAt: now });
    if (now - this.#sweptAt > sweepMs) this.#sweep(now);
    return from;
  }

  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const [flow, { usedAt }] of this.#flows) if (now - usedAt > forgetAfterMs) this.#flows.delete(flow);
  }
}
