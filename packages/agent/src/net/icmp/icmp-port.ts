import { performance } from 'node:perf_hooks';
import { MessageBatch } from '../datagram/message-batch.ts';
import { type EpollPoller, epollEvent, type Watcher } from '../epoll/epoll-poller.ts';
import { errno, errnoName } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { closeSocket } from '../kernel/socket.ts';
import { icmpHeaderBytes } from './message.ts';

const batchCount = 256;
const dontWait = 0x40;
const readsPerTurn = 4;
// Headers of IP and ICMP, and what a refusal quotes.
const headBytes = 512;

export interface IcmpEvents {
  /** `index` is where it lies, for `peerOf`, as long as this call lasts; `now` is when it was there. */
  onMessage(bytes: Buffer, start: number, end: number, index: number, now: number): void;
  /** The system did not take the message of this number. */
  onFail(sequence: number, code: string): void;
  onError(code: string): void;
}

export interface IcmpPortPlace {
  readonly poller: EpollPoller;
  readonly payloadBytes: number;
  /** Messages of one call. */
  readonly count?: number;
  /** What is kept of a message that arrives. */
  readonly receiveBytes?: number;
  /** Whether it matters whom messages come from. */
  readonly isNamed?: boolean;
}

/** An ICMP socket for all targets: messages of one turn leave in one call. */
export class IcmpPort implements Watcher {
  readonly #fd: number;
  readonly #poller: EpollPoller;
  readonly #events: IcmpEvents;
  readonly #libc = requireLibc();
  readonly #leaving: MessageBatch;
  readonly #arriving: MessageBatch;
  readonly #count: number;
  readonly #sequences: Int32Array;
  #waiting = 0;
  #isBooked = false;
  #isClosed = false;

  constructor(fd: number, place: IcmpPortPlace, events: IcmpEvents) {
    const { poller, payloadBytes, count = batchCount, receiveBytes = headBytes, isNamed = false } = place;
    this.#fd = fd;
    this.#poller = poller;
    this.#events = events;
    this.#count = count;
    this.#sequences = new Int32Array(count);
    this.#leaving = new MessageBatch({ count, bytes: icmpHeaderBytes + payloadBytes, isNamed: true });
    this.#arriving = new MessageBatch({ count, bytes: receiveBytes, isNamed });
    poller.add(fd, epollEvent.in, this);
  }

  /** The bytes are needed no longer than this call. */
  send(peer: Buffer, bytes: Uint8Array, sequence: number): void {
    if (this.#isClosed) return;
    if (this.#waiting === this.#count) this.#flush();
    this.#leaving.fill(this.#waiting, bytes);
    this.#leaving.direct(this.#waiting, peer);
    this.#sequences[this.#waiting++] = sequence;
    if (this.#isBooked) return;
    this.#isBooked = true;
    this.#poller.soon(() => {
      this.#isBooked = false;
      this.#flush();
    });
  }

  ready(): void {
    for (let reads = 0; reads < readsPerTurn && !this.#isClosed; reads++) {
      const count = this.#libc.recvmmsg(this.#fd, this.#arriving.addressOf(0), this.#count, dontWait, 0);
      if (count < 0) {
        const error = this.#libc.errno();
        if (error !== errno.EAGAIN) this.#events.onError(errnoName(error));
        return;
      }
      const now = performance.now();
      for (let index = 0; index < count && !this.#isClosed; index++) {
        const start = this.#arriving.offsetOf(index);
        this.#events.onMessage(this.#arriving.bytes, start, start + this.#arriving.lengthOf(index), index, now);
        this.#arriving.renew(index);
      }
      if (count < this.#count) return;
    }
  }

  /** A copy of the address that a message came from. */
  peerOf(index: number): Buffer {
    return this.#arriving.peerOf(index);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#poller.forget(this.#fd);
    closeSocket(this.#fd);
    this.#leaving.release();
    this.#arriving.release();
  }

  #flush(): void {
    const count = this.#waiting;
    let done = 0;
    const failed: [sequence: number, code: string][] = [];
    while (done < count && !this.#isClosed) {
      const sent = this.#libc.sendmmsg(this.#fd, this.#leaving.addressOf(done), count - done, dontWait);
      // The message that could not be sent is given up, and those after it are tried.
      if (sent < 0) failed.push([this.#sequences[done] as number, errnoName(this.#libc.errno())]);
      done += Math.max(1, sent);
    }
    this.#waiting = 0;
    for (const [sequence, code] of failed) this.#events.onFail(sequence, code);
  }
}
