import { type EpollPoller, epollEvent, type Watcher } from '../epoll/epoll-poller.ts';
import { errno, errnoName } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { closeSocket } from '../kernel/socket.ts';
import type { Datagram, DatagramEvents, DatagramSocket } from './datagrams.ts';
import type { MessageBatch } from './message-batch.ts';

const dontWait = 0x40;
const readsPerTurn = 4;
const inet = 2;
const none = -1;
const [leastJoined, mostJoined] = [4, 64];
// With its headers it must fit the smallest usual link.
const longestJoined = 1200;

/** Packets arrive for all sockets in one batch of memory, and leave from one of each socket's own. */
export interface MmsgDeps {
  readonly arriving: MessageBatch;
  readonly leaving: MessageBatch;
  readonly mayJoin: boolean;
}

/** One number for an address and port; IPv6 addresses are mixed down to it. */
const peerOf = (names: Buffer, at: number): number => {
  const port = names.readUInt16BE(at + 2);
  if (names.readUInt16LE(at) === inet) return names.readUInt32BE(at + 4) * 65_536 + port;
  let mixed = 0;
  for (let word = 0; word < 16; word += 4) mixed = Math.imul(mixed ^ names.readInt32BE(at + 8 + word), 0x9e37_79b1);
  return (mixed >>> 0) * 65_536 + port;
};

/** A UDP socket that sends and receives many packets in one call. */
export class MmsgSocket implements DatagramSocket, Watcher {
  readonly fd: number;
  events!: DatagramEvents;
  isFlushBooked = false;
  readonly #poller: EpollPoller;
  readonly #deps: MmsgDeps;
  readonly #libc = requireLibc();
  readonly #tokens: Int32Array;
  /** Tokens of what was just sent: while they are told, new packets take their places. */
  readonly #taken: Int32Array;
  readonly #datagram: { -readonly [Name in keyof Datagram]: Datagram[Name] };
  #waiting = 0;
  #isFull = false;
  #joins: boolean;
  #isFlushing = false;
  #isClosed = false;

  constructor(fd: number, poller: EpollPoller, deps: MmsgDeps) {
    this.fd = fd;
    this.#poller = poller;
    this.#deps = deps;
    this.#joins = deps.mayJoin;
    this.#tokens = new Int32Array(deps.leaving.sizes.count);
    this.#taken = new Int32Array(deps.leaving.sizes.count);
    this.#datagram = { bytes: deps.arriving.bytes, start: 0, end: 0, now: 0, from: 0, index: 0 };
  }

  send(bytes: Uint8Array, token: number): void {
    const index = this.#place(token);
    if (index >= 0) this.#deps.leaving.fill(index, bytes);
  }

  reply(datagram: Datagram, bytes: Uint8Array, token: number): void {
    const index = this.#place(token);
    if (index < 0) return;
    this.#deps.leaving.fill(index, bytes);
    this.#deps.leaving.address(index, this.#deps.arriving, datagram.index);
  }

  replyLater(datagram: Datagram) {
    const peer = this.#deps.arriving.peerOf(datagram.index);
    return (bytes: Uint8Array, token: number) => {
      const index = this.#place(token);
      if (index < 0) return;
      this.#deps.leaving.fill(index, bytes);
      this.#deps.leaving.direct(index, peer);
    };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#flushAll();
    this.#isClosed = true;
    this.#poller.forget(this.fd);
    closeSocket(this.fd);
    this.#deps.leaving.release();
  }

  ready(events: number): void {
    if ((events & epollEvent.out) !== 0 && this.#isFull) {
      this.#isFull = false;
      this.flush();
    }
    if ((events & ~epollEvent.out) !== 0) this.#receive();
  }

  /** Hands over all packets at hand. */
  flush(): void {
    this.isFlushBooked = false;
    if (!this.#isFull && !this.#isClosed) this.#flushAll();
  }

  #place(token: number): number {
    if (this.#isClosed) return -1;
    if (this.#waiting === this.#tokens.length) {
      this.#flushAll();
      // There is no room in the system either: the packet is lost here, as it would be further on.
      if (this.#waiting === this.#tokens.length) {
        this.#poller.soon(() => this.events.onFail(token, 'ENOBUFS'));
        return -1;
      }
    }
    this.#tokens[this.#waiting] = token;
    if (!this.isFlushBooked) {
      this.isFlushBooked = true;
      this.#poller.flushLater(this);
    }
    return this.#waiting++;
  }

  #flushAll(): void {
    const count = this.#waiting;
    if (count === 0 || this.#isFlushing) return;
    this.#isFlushing = true;
    let done = 0;
    const failures: (readonly [index: number, error: number])[] = [];
    while (done < count) {
      const sent = this.#sendFrom(done, count);
      if (sent === -errno.EAGAIN) break;
      if (sent < 0) failures.push([done, -sent]);
      done += Math.max(1, sent);
    }
    for (let index = 0; index < done; index++) this.#taken[index] = this.#tokens[index] as number;
    this.#keepRest(done, count);
    this.#settle(done, failures);
    this.#isFlushing = false;
  }

  /** Says how many packets the system took, or by a negative number why it did not take the first. */
  #sendFrom(first: number, end: number): number {
    const { leaving } = this.#deps;
    const alike = Math.min(leaving.alikeFrom(first, end), mostJoined);
    if (alike < leastJoined || !this.#joins || leaving.lengthToSend(first) > longestJoined) {
      const sent = this.#libc.sendmmsg(this.fd, leaving.addressOf(first), this.#plainEnd(first, end) - first, dontWait);
      return sent < 0 ? -this.#libc.errno() : sent;
    }
    leaving.join(first, alike);
    const sent = this.#libc.sendmmsg(this.fd, leaving.addressOf(first), 1, dontWait);
    const error = sent < 0 ? this.#libc.errno() : 0;
    leaving.part(first);
    if (error === 0) return alike;
    // Not every route can cut packets up.
    if (error !== errno.EINVAL && error !== errno.EIO && error !== errno.EMSGSIZE) return -error;
    this.#joins = false;
    return this.#sendFrom(first, end);
  }

  /** Up to the next packets that can be joined. */
  #plainEnd(first: number, end: number): number {
    if (!this.#joins) return end;
    const { leaving } = this.#deps;
    let next = first;
    while (next < end) {
      const alike = leaving.alikeFrom(next, end);
      if (next > first && alike >= leastJoined) return next;
      next += alike;
    }
    return end;
  }

  /** What the system did not take goes first next time. */
  #keepRest(done: number, count: number): void {
    this.#isFull = done < count;
    this.#waiting = count - done;
    if (done === 0) return;
    for (let index = done; index < count; index++) this.#deps.leaving.move(index, index - done);
    this.#tokens.copyWithin(0, done, count);
  }

  #settle(done: number, failures: readonly (readonly [index: number, error: number])[]): void {
    const { now } = this.#poller;
    for (const [index, error] of failures) {
      this.events.onFail(this.#taken[index] as number, errnoName(error));
      this.#taken[index] = none;
    }
    for (let index = 0; index < done; index++) {
      const token = this.#taken[index] as number;
      if (token !== none) this.events.onSent(token, now);
    }
  }

  #receive(): void {
    if (this.#isClosed) return;
    const { arriving } = this.#deps;
    const most = arriving.sizes.count;
    for (let reads = 0; reads < readsPerTurn; reads++) {
      const count = this.#libc.recvmmsg(this.fd, arriving.addressOf(0), most, dontWait, 0);
      if (count < 0) {
        const error = this.#libc.errno();
        if (error !== errno.EAGAIN) this.events.onError(errnoName(error));
        return;
      }
      for (let index = 0; index < count && !this.#isClosed; index++) this.#arrive(index);
      if (count < most || this.#isClosed) return;
    }
    // Others must get their turn.
    this.#poller.soon(() => this.#receive());
  }

  #arrive(index: number): void {
    const { arriving } = this.#deps;
    const datagram = this.#datagram;
    const start = arriving.offsetOf(index);
    const end = start + arriving.lengthOf(index);
    const segment = arriving.segmentOf(index) || end - start;
    datagram.index = index;
    datagram.now = this.#poller.now;
    datagram.from = peerOf(arriving.names, arriving.nameOffsetOf(index));
    datagram.start = start;
    do {
      datagram.end = Math.min(end, datagram.start + segment);
      this.events.onMessage(datagram);
      datagram.start += segment;
    } while (datagram.start < end && !this.#isClosed);
    arriving.renew(index);
  }
}
