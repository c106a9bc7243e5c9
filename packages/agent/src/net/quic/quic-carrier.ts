import { type EpollPoller, epollEvent, type Watcher } from '../epoll/epoll-poller.ts';
import { scratch } from '../kernel/memory.ts';
import { closeSocket } from '../kernel/socket.ts';
import { family, writeSocketAddress } from '../kernel/socket-address.ts';
import { requireOpenssl } from '../openssl/library.ts';

/** What an endpoint does when datagrams arrive. */
export interface CarriedEndpoint extends Watcher {
  /** What OpenSSL reads from and writes to; 0 once it is freed. */
  readonly root: number;
  /** Handles events before the thread waits. */
  touch(): void;
  /** Nothing can be sent from here. */
  onCarrierError(code: string): void;
}

/** Carries the datagrams of an endpoint: a socket of the kernel, or emulated hosts. */
export interface QuicCarrier {
  /** Gives an object of OpenSSL what it reads and writes, and begins to receive for its endpoint. */
  attach(endpoint: CarriedEndpoint, ssl: number): void;
  /** Sends what OpenSSL has written. True if it may have stopped for want of room. */
  drain(): boolean;
  /** Afterwards nothing is received. */
  close(): void;
}

interface Endpoint {
  readonly address: string;
  readonly port: number;
}

const [familyAt, portAt] = [0, 2] as const;

const setPeer = (ssl: number, peer: Endpoint): void => {
  const openssl = requireOpenssl();
  const memory = scratch();
  writeSocketAddress(memory.bytes, 0, peer);
  const isInet6 = memory.bytes.readUInt16LE(familyAt) === family.inet6;
  const address = openssl.BIO_ADDR_new();
  const where = isInet6 ? memory.addressOf(8, 16) : memory.addressOf(4, 4);
  const networkPort = memory.bytes.readUInt16LE(portAt);
  openssl.BIO_ADDR_rawmake(address, isInet6 ? family.inet6 : family.inet, where, isInet6 ? 16 : 4, networkPort);
  openssl.SSL_set1_initial_peer_addr(ssl, address);
  openssl.BIO_ADDR_free(address);
};

/** OpenSSL reads and writes the socket itself. */
export class SocketCarrier implements QuicCarrier {
  readonly #poller: EpollPoller;
  readonly #fd: number;
  readonly #peer: Endpoint | undefined;

  /** With a peer for a connection. */
  constructor(poller: EpollPoller, fd: number, peer?: Endpoint) {
    this.#poller = poller;
    this.#fd = fd;
    this.#peer = peer;
  }

  attach(endpoint: CarriedEndpoint, ssl: number): void {
    const openssl = requireOpenssl();
    const bio = openssl.BIO_new_dgram(this.#fd, 0);
    openssl.SSL_set_bio(ssl, bio, bio);
    if (this.#peer !== undefined) setPeer(ssl, this.#peer);
    this.#poller.add(this.#fd, epollEvent.in, endpoint);
  }

  drain(): boolean {
    return false;
  }

  close(): void {
    this.#poller.forget(this.#fd);
    closeSocket(this.#fd);
  }
}
