import type { Datagram, DatagramEvents, DatagramSocket } from '../datagram/datagram-transport.ts';
import { type Memory, mapMemory, writeAddress } from '../kernel/memory.ts';
import { family } from '../kernel/socket-address.ts';
import { requireOpenssl } from '../openssl/library.ts';
import { type DatagramPair, openDatagramPair } from './datagram-pair.ts';
import { Flows } from './flows.ts';
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

interface DatagramCarrierOptions {
  /** Opens the socket whose datagrams are those of the endpoint; those after the first on another port. */
  open(events: DatagramEvents, isFirst: boolean): Promise<DatagramSocket>;
  /** Many peers; otherwise the socket is connected. */
  readonly isServer: boolean;
  /** A peer goes on from another address. */
  readonly onMove?: (() => void) | undefined;
}

/**
 * Datagrams of a transport. OpenSSL sees numbers of flows in place of addresses, so that one listener serves all
 * emulated hosts, answers from the one that was asked, and follows clients to other addresses.
 */
export class DatagramCarrier implements QuicCarrier, DatagramEvents {
  readonly #openssl = requireOpenssl();
  readonly #options: DatagramCarrierOptions;
  readonly #flows: Flows;
  readonly #isOpen: Promise<void>;
  #pair: DatagramPair | undefined;
  #endpoint: CarriedEndpoint | undefined;
  #socket: DatagramSocket | undefined;
  #isClosed = false;

  constructor(options: DatagramCarrierOptions) {
    this.#options = options;
    this.#flows = new Flows(options.onMove);
    this.#isOpen = this.#open(true);
    this.#isOpen.catch((error: unknown) => this.#fail(error));
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

  move(): void {
    this.#open(false).catch((error: unknown) => this.#fail(error));
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
    const flow = this.#flowOf(datagram);
    if (flow === undefined) return;
    const { memory } = buffers();
    memory.bytes.set(datagram.bytes.subarray(datagram.start, datagram.end), injectedAt);
    const peer = this.#peerOf(flow);
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
    if (this.#options.isServer) this.#flows.send(flow, bytes);
    else this.#socket?.send(bytes, 0);
  }

  #flowOf(datagram: Datagram): number | undefined {
    const socket = this.#socket;
    return socket === undefined || !this.#options.isServer ? theOnlyFlow : this.#flows.numberOf(datagram, socket);
  }

  #fail(error: unknown): void {
    this.#endpoint?.onCarrierError((error as NodeJS.ErrnoException).code ?? 'error');
  }

  /** A socket takes the place of the one before. */
  async #open(isFirst: boolean): Promise<void> {
    const socket = await this.#options.open(this, isFirst);
    if (this.#isClosed) socket.close();
    else {
      this.#socket?.close();
      this.#socket = socket;
      this.#endpoint?.touch();
    }
  }
}
