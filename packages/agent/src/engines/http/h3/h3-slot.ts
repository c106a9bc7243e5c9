import { performance } from 'node:perf_hooks';
import type { HttpClientConfig, Target } from '@rushhour/protocol';
import { type H3Events, type Header, h3Error } from '@rushhour/wire';
import { H3Carrier } from '../../../net/quic/h3-carrier.ts';
import { PacketObserver } from '../../../net/quic/packet-observer.ts';
import {
  maxRequestsOfClient,
  type QuicConnection,
  type QuicConnectionEvents,
  type QuicStream,
} from '../../../net/quic/quic.ts';
import type { QuicClient } from '../../../net/quic/quic-client.ts';
import { isWatched } from '../../../net/quic/quic-meters.ts';
import type { Expectation } from '../expectation.ts';
import type { HttpMeters } from '../meters.ts';
import { requestHeaders } from '../request.ts';
import type { Slot, SlotOwner, SlotPlan } from '../slot.ts';

interface InFlight {
  readonly intended: number;
  readonly sentAt: number;
  readonly expectation: Expectation;
  status: number;
}

export interface H3SlotDeps {
  readonly index: number;
  readonly plan: SlotPlan;
  readonly quic: QuicClient;
  readonly owner: SlotOwner;
}

/** HTTP/3 on consecutive connections, with up to `maxStreams` requests in flight. */
export class H3Slot implements Slot, QuicConnectionEvents, H3Events {
  readonly index: number;
  setIndex = -1;
  session = 0;
  readonly #deps: H3SlotDeps;
  readonly #config: HttpClientConfig;
  readonly #maxRequests: number;
  readonly #inFlight = new Map<number, InFlight>();
  readonly #headers = new Map<Target, Map<number, readonly Header[]>>();
  /** Requests that wait until the server allows another stream, with the times they were due. */
  readonly #waiting: number[] = [];
  #target!: Target;
  #meters!: HttpMeters;
  #connection: QuicConnection | undefined;
  #carrier: H3Carrier | undefined;
  #observer: PacketObserver | undefined;
  #sent = 0;
  #connectAt = 0;
  #now = 0;
  #isOpen = false;
  #isClosing = false;
  #isRetiring = false;
  #isAbandoned = false;
  /** The server takes no more requests on this connection. */
  #isLeaving = false;
  #failure: string | undefined;
  #sessionIntended = Number.NaN;

  constructor(deps: H3SlotDeps) {
    const { config } = deps.plan;
    this.#deps = deps;
    this.index = deps.index;
    this.#config = config;
    const { enabled, maxRequests } = config.keepAlive;
    this.#maxRequests = enabled ? Math.min(maxRequests || maxRequestsOfClient, maxRequestsOfClient) : 1;
  }

  get inFlight(): number {
    return this.#inFlight.size + this.#waiting.length;
  }

  connect(intended: number): void {
    this.#isRetiring = false;
    const { httpTarget, route } = this.#deps.plan.chooseTarget(this.index);
    this.session++;
    this.#target = httpTarget.target;
    this.#meters = httpTarget.meters;
    this.#sent = 0;
    this.#isClosing = false;
    this.#failure = undefined;
    this.#sessionIntended = intended;
    this.#connectAt = performance.now();
    this.#connection = this.#deps.quic.connect(route, this);
  }

  begin(intended: number, now: number): void {
    const due = this.#sent === 0 && this.#sessionIntended < intended ? this.#sessionIntended : intended;
    this.#sent++;
    this.#meters.requests.add(1);
    if (this.#waiting.length > 0 || !this.#send(due, now)) this.#waiting.push(due);
  }

  sweep(now: number): void {
    if (this.#connection === undefined || this.#isClosing) return;
    const { timeoutMs } = this.#config;
    if (!this.#isOpen) {
      if (now - this.#connectAt > timeoutMs) this.#timeOutConnect(now);
      return;
    }
    for (const [stream, entry] of this.#inFlight) {
      if (now - entry.sentAt <= timeoutMs) break;
      this.#recordTimes(entry, now);
      this.#carrier?.h3.reset(stream, h3Error.requestCancelled);
      this.#end(stream, 'timeout', now);
    }
  }

  retire(): void {
    this.#isRetiring = true;
    if (this.#isOpen && this.inFlight === 0) this.#close();
  }

  abandon(): void {
    if (this.#connection === undefined) return;
    this.#countUnanswered(performance.now());
    this.#inFlight.clear();
    this.#waiting.length = 0;
    this.#isRetiring = true;
    this.#isAbandoned = true;
    this.#isClosing = true;
    this.#connection.close(h3Error.none);
  }

  onOpen(now: number): void {
    this.#now = now;
    const connection = this.#connection as QuicConnection;
    this.#meters.quicHandshake((now - this.#connectAt) * 1000);
    if (connection.handshake().isResumed) this.#meters.resumed();
    if (isWatched(this.index)) this.#observer = new PacketObserver(connection, this.#meters.packets());
    this.#carrier = new H3Carrier(connection, {
      isServer: false,
      events: this,
      onFail: () => {
        this.#failure ??= 'protocol';
      },
    });
    this.#carrier.h3.start();
    this.#meters.connections.add(1);
    this.#isOpen = true;
    this.#deps.owner.onOpen(this, Math.min(this.#config.maxStreams, this.#maxRequests), now);
    if (this.#isRetiring && this.inFlight === 0) this.#close();
  }

  onStream(stream: QuicStream) {
    return (this.#carrier as H3Carrier).accept(stream);
  }

  onRoom(now: number): void {
    while (this.#waiting.length > 0 && this.#send(this.#waiting[0] as number, now)) this.#waiting.shift();
  }

  onRead(now: number): void {
    this.#now = now;
  }

  onBytes(direction: 'sent' | 'received', count: number): void {
    (direction === 'sent' ? this.#meters.txBytes : this.#meters.rxBytes).add(count);
  }

  onBody(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void {
    this.#inFlight.get(stream)?.expectation.onBody(bytes, start, end);
    if (isEnd) this.#end(stream, undefined, this.#now);
  }

  onHeaders(stream: number, headers: readonly Header[], isEnd: boolean): void {
    const entry = this.#inFlight.get(stream);
    if (entry === undefined) return;
    entry.status = Number(headers.find(([name]) => name === ':status')?.[1] ?? 0);
    this.#meters.ttfb.record((this.#now - entry.sentAt) * 1000);
    if (isEnd) this.#end(stream, undefined, this.#now);
  }

  onReset(stream: number, code: number): void {
    this.#end(stream, code === h3Error.requestRejected ? 'refusedStream' : 'reset', this.#now);
  }

  onGoaway(): void {
    this.#isLeaving = true;
    this.#deps.owner.onLeave(this);
    if (this.inFlight === 0) this.#close();
  }

  onClose(code: string | undefined, now: number): void {
    this.#now = now;
    const lost = this.inFlight;
    const isCut = !this.#isAbandoned && (lost > 0 || !this.#isOpen);
    const failure = this.#isAbandoned ? undefined : (this.#failure ?? (isCut ? (code ?? 'closed') : undefined));
    if (failure !== undefined) this.#meters.error(failure, Math.max(1, lost));
    this.#observer?.close();
    this.#observer = undefined;
    this.#inFlight.clear();
    this.#waiting.length = 0;
    this.#connection = undefined;
    this.#carrier = undefined;
    this.#isOpen = false;
    this.#isLeaving = false;
    this.#deps.owner.onEnd(this, failure !== undefined || this.#sent === 0, now);
  }

  /** False while the server allows no more streams. */
  #send(due: number, now: number): boolean {
    const carrier = this.#carrier as H3Carrier;
    const stream = carrier.openRequest();
    if (stream < 0) return false;
    const { plan } = this.#deps;
    const body = plan.nextBody();
    this.#inFlight.set(stream, { intended: due, sentAt: now, expectation: plan.createExpectation(), status: 0 });
    carrier.h3.request(stream, this.#headersFor(body?.length ?? -1), body);
    return true;
  }

  #end(stream: number, failure: string | undefined, now: number): void {
    const entry = this.#inFlight.get(stream);
    if (entry === undefined) return;
    this.#inFlight.delete(stream);
    this.#carrier?.forget(stream);
    if (failure === undefined) this.#settle(entry, now);
    else this.#meters.error(failure);
    if (this.#isRetiring || this.#isLeaving || this.#sent >= this.#maxRequests) {
      if (this.inFlight === 0) this.#close();
    } else if (!this.#isClosing) this.#deps.owner.onRoom(this, now);
  }

  #settle(entry: InFlight, now: number): void {
    this.#meters.responses.add(1);
    this.#meters.status(entry.status);
    this.#recordTimes(entry, now);
    if (entry.expectation.isMet(entry.status)) this.#meters.ok.add(1);
    else this.#meters.ko.add(1);
  }

  #recordTimes(entry: InFlight, now: number): void {
    this.#meters.latency.record((now - entry.intended) * 1000);
    this.#meters.service.record((now - entry.sentAt) * 1000);
  }

  /** One list for each target and length of the body: the encoder remembers the block of a list. */
  #headersFor(bodyLength: number): readonly Header[] {
    const known = this.#headers.get(this.#target) ?? new Map<number, readonly Header[]>();
    this.#headers.set(this.#target, known);
    const found = known.get(bodyLength);
    if (found !== undefined) return found;
    const headers = requestHeaders(this.#config, this.#target, bodyLength);
    known.set(bodyLength, headers);
    return headers;
  }

  #countUnanswered(now: number): void {
    const isOpening = !this.#isOpen && !this.#isClosing;
    if (isOpening) this.#meters.unopened({ intended: this.#sessionIntended, connectAt: this.#connectAt }, now);
    if (this.inFlight > 0) this.#meters.unanswered(this.inFlight);
    for (const entry of this.#inFlight.values()) this.#meters.waited(entry, now);
  }

  #timeOutConnect(now: number): void {
    if (!Number.isNaN(this.#sessionIntended)) this.#meters.latency.record((now - this.#sessionIntended) * 1000);
    this.#failure ??= 'connectTimeout';
    this.#isClosing = true;
    this.#connection?.close(h3Error.none);
  }

  #close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#connection?.close(h3Error.none);
  }
}
