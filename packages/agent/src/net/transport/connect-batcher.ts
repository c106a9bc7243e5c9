import { errno, SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { type Memory, mapMemory } from '../kernel/memory.ts';
import { closeSocket, newSocketFlags, option, setOption, socketType } from '../kernel/socket.ts';
import { familyOf, socketAddressBytes, writeSocketAddress } from '../kernel/socket-address.ts';
import { tuneSocket } from './tcp-tuning.ts';
import type { ConnectionOptions, Route } from './transport.ts';

/** A connection that waits for its socket. */
export interface Unopened {
  /** It was given up meanwhile. */
  readonly isGone: boolean;
  /** It is to wait until the socket is connected. */
  onConnecting(fd: number): void;
  onRefused(error: number): void;
}

interface Opening {
  readonly connection: Unopened;
  readonly route: Route;
  /** -1: not open, or no longer. */
  fd: number;
}

/** Where the kernel reads an address. */
class AddressField {
  readonly at: number;
  length = 0;
  readonly #memory: Memory;
  readonly #offset: number;
  #address = '';
  #port = 0;

  constructor(memory: Memory, offset: number) {
    this.at = memory.addressOf(offset, socketAddressBytes);
    this.#memory = memory;
    this.#offset = offset;
  }

  /** Mostly the same as the last time. */
  write(address: string, port: number): void {
    if (address === this.#address && port === this.#port) return;
    this.length = writeSocketAddress(this.#memory.bytes, this.#offset, { address, port });
    this.#address = address;
    this.#port = port;
  }
}

/**
 * Opens the sockets of all connections that are wanted together, one step for all of them before the next: what the
 * kernel does in a step is then still at hand in the processor, and a connection costs a tenth less. For the same
 * reason there is as little as possible between two calls of the kernel.
 */
export class Openings {
  readonly #options: ConnectionOptions;
  readonly #soon: (action: () => void) => void;
  readonly #libc = requireLibc();
  readonly #memory = mapMemory({ length: 128 });
  readonly #source = new AddressField(this.#memory, 0);
  readonly #target = new AddressField(this.#memory, 32);
  /** Where the number 1 is. */
  readonly #oneAt = this.#memory.addressOf(64, 4);
  #wanted: Opening[] = [];

  /** `soon`: does something once all events at hand are handled. */
  constructor(options: ConnectionOptions, soon: (action: () => void) => void) {
    this.#options = options;
    this.#soon = soon;
    this.#memory.bytes.writeInt32LE(1, 64);
  }

  add(connection: Unopened, route: Route): void {
    if (this.#wanted.length === 0) this.#soon(this.#openAll);
    this.#wanted.push({ connection, route, fd: -1 });
  }

  /** Only once nothing is wanted any more. */
  close(): void {
    this.#memory.release();
  }

  readonly #openAll = (): void => {
    const openings = this.#wanted;
    this.#wanted = [];
    for (const opening of openings) if (!opening.connection.isGone) this.#open(opening);
    for (const opening of openings) if (opening.fd >= 0) this.#setOptions(opening);
    for (const opening of openings) if (opening.fd >= 0) this.#bind(opening);
    for (const opening of openings) if (opening.fd >= 0) this.#connect(opening);
  };

  #open(opening: Opening): void {
    opening.fd = this.#libc.socket(familyOf(opening.route.address), socketType.stream | newSocketFlags, 0);
    if (opening.fd < 0) this.#refuse(opening, this.#libc.errno());
  }

  #setOptions(opening: Opening): void {
    const { fd, route } = opening;
    if (this.#options.noDelay) this.#switchOn(fd, option.noDelay);
    if (route.localPort !== undefined) this.#switchOn(fd, option.reuseAddress);
    // With an address alone the port is found when the target is known, so that one port can serve many targets.
    else if (route.localAddress !== undefined) this.#switchOn(fd, option.bindAddressNoPort);
    const { tuning, keepAliveSec } = this.#options;
    if (tuning === undefined && keepAliveSec === 0) return;
    try {
      if (tuning !== undefined) tuneSocket(fd, tuning);
      if (keepAliveSec > 0) {
        this.#switchOn(fd, option.keepAlive);
        setOption(fd, option.keepIdleSec, keepAliveSec);
      }
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      this.#refuse(opening, error.errno);
    }
  }

  #bind(opening: Opening): void {
    const { address, localAddress, localPort } = opening.route;
    if (localAddress === undefined && localPort === undefined) return;
    this.#source.write(localAddress ?? (address.includes(':') ? '::' : '0.0.0.0'), localPort ?? 0);
    if (this.#libc.bind(opening.fd, this.#source.at, this.#source.length) < 0)
      this.#refuse(opening, this.#libc.errno());
  }

  #connect(opening: Opening): void {
    const { connection, route, fd } = opening;
    // One that was refused may have led to the end of this one.
    if (connection.isGone) {
      closeSocket(fd);
      return;
    }
    this.#target.write(route.address, route.port);
    const error = this.#libc.connect(fd, this.#target.at, this.#target.length) < 0 ? this.#libc.errno() : 0;
    if (error !== 0 && error !== errno.EINPROGRESS) this.#refuse(opening, error);
    else connection.onConnecting(fd);
  }

  /** An option that cannot be set is no reason to fail. */
  #switchOn(fd: number, [level, name]: readonly [number, number]): void {
    this.#libc.setsockopt(fd, level, name, this.#oneAt, 4);
  }

  #refuse(opening: Opening, error: number): void {
    if (opening.fd >= 0) closeSocket(opening.fd);
    opening.fd = -1;
    opening.connection.onRefused(error);
  }
}
