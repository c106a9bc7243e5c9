import { performance } from 'node:perf_hooks';
import { MessageBatch } from '../datagram/message-batch.ts';
import { type EpollPoller, epollEvent, type Watcher } from '../epoll/epoll-poller.ts';
import { errno, errnoName } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { closeSocket } from '../kernel/socket.ts';
import { icmpHeaderBytes } from './icmp-message.ts';

const batchCount = 256;
const dontWait = 0x40;
const readsPerIteration = 4;
// Headers of IP and ICMP, and the quoted message of an ICMP error.
const headBytes = 512;

export interface IcmpEvents {
  /** `index` is for `peerOf` and valid during the call; `now` is the time of receipt. */
  onMessage(bytes: Buffer, start: number, end: number, index: number, now: number): void;
  /** The kernel rejected the message with this sequence number. */
  onFail(sequence: number, code: string): void;
  onError(code: string): void;
}

export interface IcmpTransportOptions {
  readonly poller: EpollPoller;
  readonly payloadBytes: number;
  /** Messages per system call. */
  readonly count?: number;
  /** Maximum number of bytes kept of a received message. */
  readonly receiveBytes?: number;
  /** Whether the sender of messages is needed. */
  readonly hasPeers?: boolean;
}

/** An ICMP socket for all targets: the messages of one event loop iteration leave in one call. */
export class IcmpTransport implements Watcher {
  readonly #fd: number;
  readonly #poller: EpollPoller;
  readonly #events: IcmpEvents;
  readonly #libc = requireLibc();
  readonly #sendBatch: MessageBatch;
  readonly #receiveBatch: MessageBatch;
  readonly #count: number;
  readonly #sequences: Int32Array;
  #pending = 0;
  #isScheduled = false;
  #isClosed = false;

  constructor(fd: number, options: IcmpTransportOptions, events: IcmpEvents) {
    const { poller, payloadBytes, count = batchCount, receiveBytes = headBytes, hasPeers = false } = options;
    this.#fd = fd;
    this.#poller = poller;
    this.#events = events;
    this.#count = count;
    this.#sequences = new Int32Array(count);
    this.#sendBatch = new MessageBatch({ count, bytes: icmpHeaderBytes + payloadBytes, hasPeers: true });
    this.#receiveBatch = new MessageBatch({ count, bytes: receiveBytes, hasPeers });
    poller.add(fd, epollEvent.in, this);
  }

  /** Copies the bytes before it returns. */
  send(peer: Buffer, bytes: Uint8Array, sequence: number): void {
    if (this.#isClosed) return;
    if (this.#pending === this.#count) this.#flush();
    this.#sendBatch.fill(this.#pending, bytes);
    this.#sendBatch.setPeer(this.#pending, peer);
    this.#sequences[this.#pending++] = sequence;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#poller.defer(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  ready(): void {
    for (let reads = 0; reads < readsPerIteration && !this.#isClosed; reads++) {
      const count = this.#libc.recvmmsg(this.#fd, this.#receiveBatch.addressOf(0), this.#count, dontWait, 0);
      if (count < 0) {
        const error = this.#libc.errno();
        if (error !== errno.EAGAIN) this.#events.onError(errnoName(error));
        return;
      }
      const now = performance.now();
      for (let index = 0; index < count && !this.#isClosed; index++) {
        const start = this.#receiveBatch.offsetOf(index);
        this.#events.onMessage(this.#receiveBatch.bytes, start, start + this.#receiveBatch.lengthOf(index), index, now);
        this.#receiveBatch.resetForReceive(index);
      }
      if (count < this.#count) return;
    }
  }

  /** A copy of the sender's address. */
  peerOf(index: number): Buffer {
    return this.#receiveBatch.peerOf(index);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#poller.forget(this.#fd);
    closeSocket(this.#fd);
    this.#sendBatch.release();
    this.#receiveBatch.release();
  }

  #flush(): void {
    const count = this.#pending;
    let done = 0;
    const failed: [sequence: number, code: string][] = [];
    while (done < count && !this.#isClosed) {
      const sent = this.#libc.sendmmsg(this.#fd, this.#sendBatch.addressOf(done), count - done, dontWait);
      // A message that could not be sent is given up; the following ones are tried.
      if (sent < 0) failed.push([this.#sequences[done] as number, errnoName(this.#libc.errno())]);
      done += Math.max(1, sent);
    }
    this.#pending = 0;
    for (const [sequence, code] of failed) this.#events.onFail(sequence, code);
  }
}
