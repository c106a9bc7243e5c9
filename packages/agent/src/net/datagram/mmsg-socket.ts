import { type EpollPoller, epollEvent, type Watcher } from '../epoll/epoll-poller.ts';
import { errno, errnoName } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { closeSocket, localEndpoint } from '../kernel/socket.ts';
import type { Datagram, DatagramEvents, DatagramSocket } from './datagram-transport.ts';
import type { MessageBatch } from './message-batch.ts';

const dontWait = 0x40;
const readsPerIteration = 4;
const inet = 2;
const sentWithError = -1;
const [minJoined, maxJoined] = [4, 64];
// With headers it has to fit the smallest common MTU.
const maxJoinedBytes = 1200;

/** All sockets of a thread share one receive batch; each socket has its own send batch. */
export interface MmsgDeps {
  readonly receiveBatch: MessageBatch;
  readonly sendBatch: MessageBatch;
  readonly usesSegmentation: boolean;
}

/** A number for a remote endpoint; IPv6 addresses are hashed. */
const peerOf = (names: Buffer, at: number): number => {
  const port = names.readUInt16BE(at + 2);
  if (names.readUInt16LE(at) === inet) return names.readUInt32BE(at + 4) * 65_536 + port;
  let mixed = 0;
  for (let word = 0; word < 16; word += 4) mixed = Math.imul(mixed ^ names.readInt32BE(at + 8 + word), 0x9e37_79b1);
  return (mixed >>> 0) * 65_536 + port;
};

/** A UDP socket that sends and receives many datagrams per system call. */
export class MmsgSocket implements DatagramSocket, Watcher {
  readonly fd: number;
  events!: DatagramEvents;
  isFlushScheduled = false;
  readonly #poller: EpollPoller;
  readonly #deps: MmsgDeps;
  readonly #libc = requireLibc();
  readonly #tokens: Int32Array;
  /** Tokens of the datagrams just sent: `onSent` handlers may fill the same slots again. */
  readonly #sentTokens: Int32Array;
  readonly #datagram: { -readonly [Name in keyof Datagram]: Datagram[Name] };
  #count = 0;
  #isBlocked = false;
  #usesSegmentation: boolean;
  #isFlushing = false;
  #isClosed = false;

  constructor(fd: number, poller: EpollPoller, deps: MmsgDeps) {
    this.fd = fd;
    this.#poller = poller;
    this.#deps = deps;
    this.#usesSegmentation = deps.usesSegmentation;
    this.#tokens = new Int32Array(deps.sendBatch.sizes.count);
    this.#sentTokens = new Int32Array(deps.sendBatch.sizes.count);
    this.#datagram = { bytes: deps.receiveBatch.bytes, start: 0, end: 0, now: 0, from: 0, index: 0 };
  }

  get port(): number {
    return localEndpoint(this.fd).port;
  }

  send(bytes: Uint8Array, token: number): void {
    const index = this.#takeSlot(token);
    if (index >= 0) this.#deps.sendBatch.fill(index, bytes);
  }

  reply(datagram: Datagram, bytes: Uint8Array, token: number): void {
    const index = this.#takeSlot(token);
    if (index < 0) return;
    this.#deps.sendBatch.fill(index, bytes);
    this.#deps.sendBatch.copyPeer(index, this.#deps.receiveBatch, datagram.index);
  }

  createReply(datagram: Datagram) {
    const peer = this.#deps.receiveBatch.peerOf(datagram.index);
    return (bytes: Uint8Array, token: number) => {
      const index = this.#takeSlot(token);
      if (index < 0) return;
      this.#deps.sendBatch.fill(index, bytes);
      this.#deps.sendBatch.setPeer(index, peer);
    };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#flushAll();
    this.#isClosed = true;
    this.#poller.forget(this.fd);
    closeSocket(this.fd);
    this.#deps.sendBatch.release();
  }

  ready(events: number): void {
    if ((events & epollEvent.out) !== 0 && this.#isBlocked) {
      this.#isBlocked = false;
      this.flush();
    }
    if ((events & ~epollEvent.out) !== 0) this.#receive();
  }

  /** Sends all waiting datagrams. */
  flush(): void {
    this.isFlushScheduled = false;
    if (!this.#isBlocked && !this.#isClosed) this.#flushAll();
  }

  #takeSlot(token: number): number {
    if (this.#isClosed) return -1;
    if (this.#count === this.#tokens.length) {
      this.#flushAll();
      // The kernel has no buffer space either: the datagram is dropped here, as it would be further on.
      if (this.#count === this.#tokens.length) {
        this.#poller.defer(() => this.events.onFail(token, 'ENOBUFS'));
        return -1;
      }
    }
    this.#tokens[this.#count] = token;
    if (!this.isFlushScheduled) {
      this.isFlushScheduled = true;
      this.#poller.scheduleFlush(this);
    }
    return this.#count++;
  }

  #flushAll(): void {
    const count = this.#count;
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
    for (let index = 0; index < done; index++) this.#sentTokens[index] = this.#tokens[index] as number;
    this.#keepRest(done, count);
    this.#settle(done, failures);
    this.#isFlushing = false;
  }

  /** Returns how many datagrams the kernel accepted, or the negative error number of the first. */
  #sendFrom(first: number, end: number): number {
    const { sendBatch } = this.#deps;
    const alike = Math.min(sendBatch.countAlike(first, end), maxJoined);
    if (alike < minJoined || !this.#usesSegmentation || sendBatch.lengthToSend(first) > maxJoinedBytes) {
      const sent = this.#libc.sendmmsg(
        this.fd,
        sendBatch.addressOf(first),
        this.#plainEnd(first, end) - first,
        dontWait,
      );
      return sent < 0 ? -this.#libc.errno() : sent;
    }
    sendBatch.join(first, alike);
    const sent = this.#libc.sendmmsg(this.fd, sendBatch.addressOf(first), 1, dontWait);
    const error = sent < 0 ? this.#libc.errno() : 0;
    sendBatch.unjoin(first);
    if (error === 0) return alike;
    // Not every route supports segmentation.
    if (error !== errno.EINVAL && error !== errno.EIO && error !== errno.EMSGSIZE) return -error;
    this.#usesSegmentation = false;
    return this.#sendFrom(first, end);
  }

  /** The end of the datagrams before the next group that can be joined. */
  #plainEnd(first: number, end: number): number {
    if (!this.#usesSegmentation) return end;
    const { sendBatch } = this.#deps;
    let next = first;
    while (next < end) {
      const alike = sendBatch.countAlike(next, end);
      if (next > first && alike >= minJoined) return next;
      next += alike;
    }
    return end;
  }

  /** Datagrams the kernel did not accept are sent first next time. */
  #keepRest(done: number, count: number): void {
    this.#isBlocked = done < count;
    this.#count = count - done;
    if (done === 0) return;
    for (let index = done; index < count; index++) this.#deps.sendBatch.move(index, index - done);
    this.#tokens.copyWithin(0, done, count);
  }

  #settle(done: number, failures: readonly (readonly [index: number, error: number])[]): void {
    const { now } = this.#poller;
    for (const [index, error] of failures) {
      this.events.onFail(this.#sentTokens[index] as number, errnoName(error));
      this.#sentTokens[index] = sentWithError;
    }
    for (let index = 0; index < done; index++) {
      const token = this.#sentTokens[index] as number;
      if (token !== sentWithError) this.events.onSent(token, now);
    }
  }

  #receive(): void {
    if (this.#isClosed) return;
    const { receiveBatch } = this.#deps;
    const capacity = receiveBatch.sizes.count;
    for (let reads = 0; reads < readsPerIteration; reads++) {
      const count = this.#libc.recvmmsg(this.fd, receiveBatch.addressOf(0), capacity, dontWait, 0);
      if (count < 0) {
        const error = this.#libc.errno();
        if (error !== errno.EAGAIN) this.events.onError(errnoName(error));
        return;
      }
      for (let index = 0; index < count && !this.#isClosed; index++) this.#arrive(index);
      if (count < capacity || this.#isClosed) return;
    }
    // Deferred so that other sockets are served.
    this.#poller.defer(() => this.#receive());
  }

  #arrive(index: number): void {
    const { receiveBatch } = this.#deps;
    const datagram = this.#datagram;
    const start = receiveBatch.offsetOf(index);
    const end = start + receiveBatch.lengthOf(index);
    const segment = receiveBatch.segmentOf(index) || end - start;
    datagram.index = index;
    datagram.now = this.#poller.now;
    datagram.from = peerOf(receiveBatch.peers, receiveBatch.peerOffsetOf(index));
    datagram.start = start;
    do {
      datagram.end = Math.min(end, datagram.start + segment);
      this.events.onMessage(datagram);
      datagram.start += segment;
    } while (datagram.start < end && !this.#isClosed);
    receiveBatch.resetForReceive(index);
  }
}
