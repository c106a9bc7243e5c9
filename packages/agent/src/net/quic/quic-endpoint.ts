import { type EpollPoller, epollPoller } from '../epoll/epoll-poller.ts';
import { scratch } from '../kernel/memory.ts';
import type { Alarm } from '../loop/alarm.ts';
import { IndexedSet } from '../loop/indexed-set.ts';
import { kernelEventLoop } from '../loop/kernel-event-loop.ts';
import type { Flushable } from '../loop/pre-wait-tasks.ts';
import { requireOpenssl } from '../openssl/library.ts';
import { PollSet } from './poll-set.ts';
import type { CarriedEndpoint, QuicCarrier } from './quic-carrier.ts';

const roundsAtOnce = 4;
const blockedRetryMs = 1;
/** More often than this timers are not looked at: with many connections each look costs time. */
const timerStepMs = 1;

/** The sockets of a transport: one alarm serves the timers of all. */
export class EndpointGroup {
  readonly poller: EpollPoller = epollPoller();
  readonly endpoints = new IndexedSet<QuicEndpoint>();
  readonly #alarm: Alarm = kernelEventLoop.createAlarm(() => this.#onAlarm());
  #at = Number.POSITIVE_INFINITY;

  constructor() {
    kernelEventLoop.acquire();
  }

  arm(at: number): void {
    if (at >= this.#at) return;
    this.#at = at;
    this.#alarm.set(at);
  }

  close(): void {
    this.#alarm.cancel();
    kernelEventLoop.release();
  }

  #onAlarm(): void {
    const now = performance.now();
    this.#at = Number.POSITIVE_INFINITY;
    let next = Number.POSITIVE_INFINITY;
    for (const endpoint of this.endpoints) {
      if (endpoint.due <= now) endpoint.iterate();
      if (endpoint.due < next) next = endpoint.due;
    }
    if (next < Number.POSITIVE_INFINITY) this.arm(Math.max(next, now + timerStepMs));
  }
}

/** What datagrams carry: one connection, or a listener and its connections. */
export abstract class QuicEndpoint implements CarriedEndpoint, Flushable {
  setIndex = -1;
  /** When OpenSSL has to be called although nothing arrives. */
  due = Number.POSITIVE_INFINITY;
  readonly set = new PollSet();
  protected readonly openssl = requireOpenssl();
  readonly #group: EndpointGroup;
  protected readonly carrier: QuicCarrier;
  #isScheduled = false;
  #isIterating = false;
  #isTouched = false;
  #isReleased = false;

  constructor(group: EndpointGroup, carrier: QuicCarrier) {
    this.#group = group;
    this.carrier = carrier;
    group.endpoints.add(this);
  }

  /** The object whose events are handled; 0 once it is freed. */
  abstract get root(): number;

  abstract onCarrierError(code: string): void;

  /** When `advance` has to be called in any case. */
  protected readonly wakeAt: number = Number.POSITIVE_INFINITY;

  /** Called after the network was looked at. */
  protected abstract advance(now: number): void;

  ready(): void {
    this.iterate();
  }

  flush(): void {
    this.#isScheduled = false;
    this.iterate();
  }

  /** Something is to be sent: now if an iteration is under way, otherwise before the thread waits. */
  touch(): void {
    if (this.#isIterating) this.#isTouched = true;
    else if (!this.#isScheduled && !this.#isReleased) {
      this.#isScheduled = true;
      this.#group.poller.scheduleFlush(this);
    }
  }

  drain(): void {
    this.carrier.drain();
  }

  /** Receives, tells what has arrived, and sends. */
  iterate(): void {
    if (this.root === 0 || this.#isIterating) return;
    this.#isIterating = true;
    const now = performance.now();
    for (let round = 0; round < roundsAtOnce && this.root !== 0; round++) {
      this.#isTouched = false;
      this.openssl.SSL_handle_events(this.root);
      this.advance(now);
      if (this.root !== 0) this.set.dispatch(now);
      if (!this.carrier.drain() && !this.#isTouched) break;
    }
    this.carrier.drain();
    this.#isIterating = false;
    this.openssl.ERR_clear_error();
    if (this.root === 0) this.release();
    else this.#plan();
    if (this.#isTouched) this.touch();
  }

  /** Closes the socket; the root is freed by then. */
  protected release(): void {
    if (this.#isReleased || this.#isIterating) return;
    this.#isReleased = true;
    this.due = Number.POSITIVE_INFINITY;
    this.#group.endpoints.delete(this);
    this.carrier.drain();
    this.carrier.close();
    this.set.release();
  }

  #plan(): void {
    const memory = scratch();
    const [time, isInfinite] = [memory.addressOf(0, 16), memory.addressOf(16, 4)];
    this.openssl.SSL_get_event_timeout(this.root, time, isInfinite);
    const { bytes } = memory;
    const ms = Number(bytes.readBigInt64LE(0)) * 1000 + Number(bytes.readBigInt64LE(8)) / 1000;
    this.due = bytes.readInt32LE(16) === 0 ? performance.now() + ms : Number.POSITIVE_INFINITY;
    if (this.openssl.SSL_net_write_desired(this.root) === 1)
      this.due = Math.min(this.due, performance.now() + blockedRetryMs);
    this.due = Math.min(this.due, this.wakeAt);
    this.#group.arm(this.due);
  }
}
