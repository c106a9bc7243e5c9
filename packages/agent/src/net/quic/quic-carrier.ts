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

/** Carries the datagrams of an endpoint: a socket that OpenSSL uses itself, or one of a transport of datagrams. */
export interface QuicCarrier {
  /** Gives an object of OpenSSL what it reads and writes, and begins to receive for its endpoint. */
  attach(endpoint: CarriedEndpoint, ssl: number): void;
  /** Sends what OpenSSL has written. True if it may have stopped for want of room. */
  drain(): boolean;
  /** Goes on from another port of the same address, as behind a NAT that has forgotten the one before. */
  move(): void;
  /** Afterwards nothing is received. */
  close(): void;
}

interface Endpoint {
  readonly address: string;
  readonly port: number;
}

const [familyAt, portAt] = [0, 2] as const;
/** BIO_C_SET_FD. */
const setDescriptor = 104;

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
  readonly #openSocket: (isFirst: boolean) => number;
  readonly #peer: Endpoint;
  #fd: number;
  #bio = 0;
  #endpoint: CarriedEndpoint | undefined;

  /** Sockets after the first have another port. */
  constructor(poller: EpollPoller, openSocket: (isFirst: boolean) => number, peer: Endpoint) {
    this.#poller = poller;
    this.#openSocket = openSocket;
    this.#peer = peer;
    this.#fd = openSocket(true);
  }

  attach(endpoint: CarriedEndpoint, ssl: number): void {
    const openssl = requireOpenssl();
    this.#endpoint = endpoint;
    this.#bio = openssl.BIO_new_dgram(this.#fd, 0);
    openssl.SSL_set_bio(ssl, this.#bio, this.#bio);
    setPeer(ssl, this.#peer);
    this.#poller.add(this.#fd, epollEvent.in, endpoint);
  }

  move(): void {
    if (this.#endpoint === undefined) return;
    const fd = this.#openSocket(false);
    const memory = scratch();
    memory.bytes.writeInt32LE(fd, 0);
    requireOpenssl().BIO_ctrl(this.#bio, setDescriptor, 0, memory.addressOf(0, 4));
    this.close();
    this.#fd = fd;
    this.#poller.add(fd, epollEvent.in, this.#endpoint);
  }

  drain(): boolean {
    return false;
  }

  close(): void {
    this.#poller.forget(this.#fd);
    closeSocket(this.#fd);
  }
}
