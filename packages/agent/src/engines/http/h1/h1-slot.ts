import { performance } from 'node:perf_hooks';
import type { HttpClientConfig, Target } from '@rushhour/protocol';
import type { Chunk, Connection, ConnectionEvents, Transport } from '../../../net/transport/transport.ts';
import type { Expectation } from '../expectation.ts';
import type { HttpMeters } from '../meters.ts';
import { redirectOf } from '../request.ts';
import type { PreparedRequest, Slot, SlotOwner, SlotPlan } from '../slot.ts';
import { type ResponseEvents, ResponseParser } from './response-parser.ts';

/** Due and send times of requests in flight. All slots share two arrays for cache locality. */
interface Times {
  readonly intended: Float64Array;
  readonly sentAt: Float64Array;
}

export const createTimes = (count: number): Times => ({
  intended: new Float64Array(count),
  sentAt: new Float64Array(count),
});

export interface H1SlotDeps {
  readonly index: number;
  /** Sized for all slots, in slot order. */
  readonly times: Times;
  readonly plan: SlotPlan;
  readonly transport: Transport;
  readonly owner: SlotOwner;
}

/** HTTP/1.1 on consecutive connections, with up to `pipelining` requests in flight. */
export class H1Slot implements Slot, ConnectionEvents, ResponseEvents {
  readonly index: number;
  setIndex = -1;
  inFlight = 0;
  session = 0;
  #isOpen = false;
  readonly #deps: H1SlotDeps;
  readonly #config: HttpClientConfig;
  readonly #depth: number;
  readonly #maxRequests: number;
  /** Ring buffers of requests in flight, starting at `#first`; the oldest is at `#first + #oldest`. */
  readonly #intended: Float64Array;
  readonly #sentAt: Float64Array;
  readonly #first: number;
  #oldest = 0;
  #sent = 0;
  #isRetiring = false;
  #isClosing = false;
  #isAbandoned = false;
  #failure: string | undefined;
  #connection: Connection | undefined;
  readonly #parser: ResponseParser;
  readonly #expectation: Expectation;
  #connectAt = 0;
  #connectedAt = 0;
  #sessionIntended = Number.NaN;
  #now = 0;
  #target!: Target;
  #meters!: HttpMeters;
  #nextRequest!: () => PreparedRequest;
  #body: Buffer | undefined;
  #redirects = 0;
  #path: string;

  constructor(deps: H1SlotDeps) {
    const { config } = deps.plan;
    this.#deps = deps;
    this.#config = config;
    this.index = deps.index;
    this.#depth = config.pipelining;
    this.#maxRequests = config.keepAlive.enabled ? config.keepAlive.maxRequests || Number.POSITIVE_INFINITY : 1;
    this.#intended = deps.times.intended;
    this.#sentAt = deps.times.sentAt;
    this.#first = deps.index * this.#depth;
    this.#path = config.path;
    this.#expectation = deps.plan.createExpectation();
    const findsLocation = config.followRedirects > 0;
    this.#parser = new ResponseParser(this, { isHead: config.method === 'HEAD', findsLocation });
  }

  connect(intended: number): void {
    this.#isRetiring = false;
    const { httpTarget, route } = this.#deps.plan.chooseTarget(this.index);
    const { target, meters, known, nextRequest } = httpTarget;
    this.session++;
    this.#target = target;
    this.#meters = meters;
    this.#nextRequest = nextRequest;
    this.#sent = 0;
    this.#isClosing = false;
    this.#failure = undefined;
    this.#parser.reset(known);
    this.#expectation.reset();
    this.#connectAt = performance.now();
    this.#connectedAt = this.#connectAt;
    this.#sessionIntended = intended;
    this.#connection = this.#deps.transport.connect(route, this);
  }

  begin(intended: number, now: number): void {
    const index = this.#first + ((this.#oldest + this.inFlight) % this.#depth);
    // The latency of the first request includes the connection setup when the session was due earlier.
    this.#intended[index] = this.#sent === 0 && this.#sessionIntended < intended ? this.#sessionIntended : intended;
    this.#sentAt[index] = now;
    this.inFlight++;
    this.#sent++;
    const { message, body } = this.#nextRequest();
    this.#body = body;
    this.#countSent(message.bytes.length);
    this.#connection?.write(message);
  }

  sweep(now: number): void {
    if (this.#connection === undefined || this.#isClosing) return;
    const limit = this.#config.timeoutMs;
    if (!this.#isOpen) {
      if (now - this.#connectAt > limit) this.#timeOut('connectTimeout', now);
    } else if (this.inFlight > 0) {
      if (now - (this.#sentAt[this.#first + this.#oldest] as number) > limit) this.#timeOut('timeout', now);
    } else if (this.#config.keepAlive.idleMs > 0 && now - this.#now > this.#config.keepAlive.idleMs) this.#close();
  }

  retire(): void {
    this.#isRetiring = true;
    if (this.#isOpen && this.inFlight === 0) this.#close();
  }

  abandon(): void {
    if (this.#connection === undefined) return;
    this.#countUnanswered(performance.now());
    this.inFlight = 0;
    this.#isRetiring = true;
    this.#isAbandoned = true;
    this.#isClosing = true;
    this.#connection.reset();
  }

  onConnect(): void {
    this.#connectedAt = performance.now();
    this.#meters.connect.record((this.#connectedAt - this.#connectAt) * 1000);
  }

  onResume(): void {
    this.#meters.resumed();
  }

  onOpen(now: number): void {
    this.#now = now;
    if (this.#isClosing) return;
    if (this.#config.tls === undefined) this.#meters.connect.record((now - this.#connectAt) * 1000);
    else this.#meters.tls.record((now - this.#connectedAt) * 1000);
    this.#isOpen = true;
    this.#meters.connections.add(1);
    this.#deps.owner.onOpen(this, Math.min(this.#depth, this.#maxRequests), now);
    if (this.#isRetiring && this.inFlight === 0) this.#close();
  }

  onData({ bytes, start, end, now }: Chunk): void {
    this.#now = now;
    this.#meters.rxBytes.add(end - start);
    if (this.inFlight > 0 && this.#parser.isIdle) {
      this.#meters.ttfb.record((this.#now - (this.#sentAt[this.#first + this.#oldest] as number)) * 1000);
    }
    try {
      this.#parser.feed(bytes, start, end);
    } catch {
      this.#fail('protocol');
    }
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    this.#expectation.onBody(bytes, start, end);
  }

  onResponse(status: number, isKeptAlive: boolean, location: string | undefined): void {
    if (this.inFlight === 0) {
      this.#fail('protocol');
      return;
    }
    this.#meters.responses.add(1);
    this.#meters.status(status);
    if (location !== undefined && isKeptAlive && this.#follows(status, location)) return;
    this.#settle(status);
    if (!isKeptAlive) this.#close();
    else if (this.#isRetiring || this.#sent >= this.#maxRequests) {
      if (this.inFlight === 0) this.#close();
    } else if (!this.#isClosing) this.#deps.owner.onRoom(this, this.#now);
  }

  onClose(code: string | undefined, now: number): void {
    this.#now = now;
    // A response without a length ends at the close.
    this.#parser.finish();
    const isCut = !this.#isAbandoned && (this.inFlight > 0 || !this.#isOpen);
    const failure = this.#failure ?? (isCut ? (code ?? 'closed') : undefined);
    if (failure !== undefined) this.#meters.error(failure, Math.max(1, this.inFlight));
    this.inFlight = 0;
    this.#oldest = 0;
    this.#isOpen = false;
    this.#connection = undefined;
    this.#deps.owner.onEnd(this, failure !== undefined || this.#sent === 0, this.#now);
  }

  #countSent(bytes: number): void {
    this.#meters.requests.add(1);
    this.#meters.txBytes.add(bytes);
  }

  /** The oldest request is answered. */
  #settle(status: number): void {
    const index = this.#first + this.#oldest;
    this.#oldest = (this.#oldest + 1) % this.#depth;
    this.inFlight--;
    if (this.#redirects > 0) {
      this.#redirects = 0;
      this.#path = this.#config.path;
    }
    this.#meters.latency.record((this.#now - (this.#intended[index] as number)) * 1000);
    this.#meters.service.record((this.#now - (this.#sentAt[index] as number)) * 1000);
    if (this.#expectation.isMet(status)) this.#meters.ok.add(1);
    else this.#meters.ko.add(1);
  }

  /** Sends the redirected request in place of the answered one. Pipelined requests are not redirected. */
  #follows(status: number, location: string): boolean {
    const isRedirect = status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
    if (!isRedirect || this.inFlight > 1 || this.#redirects >= this.#config.followRedirects) return false;
    const next = redirectOf(this.#config, this.#target, { status, location, from: this.#path, body: this.#body });
    if (next === undefined) return false;
    this.#expectation.isMet(status);
    this.#redirects++;
    this.#path = next.path;
    this.#countSent(next.request.length);
    this.#connection?.writeCopy(next.request);
    return true;
  }

  #close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#connection?.close();
  }

  /** Requests that time out count with the time they waited: without them percentiles would show only fast answers. */
  #timeOut(kind: 'timeout' | 'connectTimeout', now: number): void {
    for (let index = 0; index < this.inFlight; index++) {
      const slot = this.#first + ((this.#oldest + index) % this.#depth);
      this.#meters.latency.record((now - (this.#intended[slot] as number)) * 1000);
      this.#meters.service.record((now - (this.#sentAt[slot] as number)) * 1000);
    }
    if (kind === 'connectTimeout') {
      this.#meters.connect.record((now - this.#connectAt) * 1000);
      if (!Number.isNaN(this.#sessionIntended)) this.#meters.latency.record((now - this.#sessionIntended) * 1000);
    }
    this.#fail(kind);
  }

  #countUnanswered(now: number): void {
    const isOpening = !this.#isOpen && !this.#isClosing;
    if (isOpening) this.#meters.unopened({ intended: this.#sessionIntended, connectAt: this.#connectAt }, now);
    if (this.inFlight === 0) return;
    this.#meters.unanswered(this.inFlight);
    for (let index = 0; index < this.inFlight; index++) {
      const slot = this.#first + ((this.#oldest + index) % this.#depth);
      const [intended = now, sentAt = now] = [this.#intended[slot], this.#sentAt[slot]];
      this.#meters.waited({ intended, sentAt }, now);
    }
  }

  #fail(kind: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = kind;
    this.#isClosing = true;
    this.#connection?.reset();
  }
}
