import { performance } from 'node:perf_hooks';
import type { HttpClientConfig, Target } from '@rushhour/protocol';
import { GrpcError, H2Connection, type H2Events, type Header, h2Error } from '@rushhour/wire';
import type { Chunk, Connection, ConnectionEvents, Transport } from '../../../net/transport/transport.ts';
import type { Expectation } from '../expectation.ts';
import { GrpcCall, type GrpcPlan } from '../grpc/grpc-call.ts';
import type { GrpcClientMeters } from '../grpc/meters.ts';
import type { HttpMeters } from '../meters.ts';
import { requestHeaders } from '../request.ts';
import type { Slot, SlotOwner, SlotPlan } from '../slot.ts';

interface InFlight {
  readonly intended: number;
  readonly sentAt: number;
  readonly expectation: Expectation;
  readonly call?: GrpcCall | undefined;
  status: number;
}

export interface H2SlotDeps {
  readonly index: number;
  readonly plan: SlotPlan;
  readonly transport: Transport;
  readonly owner: SlotOwner;
  readonly grpc: GrpcPlan | undefined;
}

/** So many streams every server is expected to allow; more are opened once its settings are known. */
const streamsAtOnce = 100;

/** HTTP/2 on consecutive connections, with up to `maxStreams` requests in flight. */
export class H2Slot implements Slot, ConnectionEvents, H2Events {
  readonly index: number;
  setIndex = -1;
  session = 0;
  readonly #deps: H2SlotDeps;
  readonly #config: HttpClientConfig;
  readonly #maxRequests: number;
  readonly #inFlight = new Map<number, InFlight>();
  readonly #headers = new Map<Target, Map<number, readonly Header[]>>();
  #target!: Target;
  #meters!: HttpMeters;
  #calls: GrpcClientMeters | undefined;
  #connection: Connection | undefined;
  #h2: H2Connection | undefined;
  #sent = 0;
  #connectAt = 0;
  #connectedAt = 0;
  #now = 0;
  #isOpen = false;
  #isClosing = false;
  #isRetiring = false;
  #isAbandoned = false;
  /** The server takes no more requests on this connection. */
  #isRetiringConnection = false;
  /** Frames are collected and sent together. */
  #isBatching = false;
  #failure: string | undefined;
  #sessionIntended = Number.NaN;

  constructor(deps: H2SlotDeps) {
    const { config } = deps.plan;
    this.#deps = deps;
    this.index = deps.index;
    this.#config = config;
    this.#maxRequests = config.keepAlive.enabled ? config.keepAlive.maxRequests || Number.POSITIVE_INFINITY : 1;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  connect(intended: number): void {
    this.#isRetiring = false;
    const { httpTarget, route } = this.#deps.plan.chooseTarget(this.index);
    this.session++;
    this.#target = httpTarget.target;
    this.#meters = httpTarget.meters;
    this.#calls = httpTarget.calls;
    this.#sent = 0;
    this.#isClosing = false;
    this.#failure = undefined;
    this.#sessionIntended = intended;
    this.#connectAt = performance.now();
    this.#connectedAt = this.#connectAt;
    this.#connection = this.#deps.transport.connect(route, this);
  }

  begin(intended: number, now: number): void {
    const h2 = this.#h2 as H2Connection;
    const due = this.#sent === 0 && this.#sessionIntended < intended ? this.#sessionIntended : intended;
    const expectation = this.#deps.plan.createExpectation();
    this.#sent++;
    this.#meters.requests.add(1);
    const call = this.#createCall(now);
    const { body, isLast } = call?.first() ?? { body: this.#deps.plan.nextBody(), isLast: true };
    const stream = h2.request(this.#headersFor(call === undefined ? (body?.length ?? -1) : -1), body, isLast);
    this.#inFlight.set(stream, { intended: due, sentAt: now, expectation, call, status: 0 });
    if (!this.#isBatching) h2.flush();
  }

  sweep(now: number): void {
    if (this.#connection === undefined || this.#isClosing) return;
    const { timeoutMs, keepAlive } = this.#config;
    if (!this.#isOpen) {
      if (now - this.#connectAt > timeoutMs) this.#timeOutConnect(now);
      return;
    }
    for (const [stream, entry] of this.#inFlight) {
      if (now - entry.sentAt <= timeoutMs) break;
      this.#recordTimes(entry, now);
      this.#h2?.reset(stream, h2Error.cancel);
      this.#end(stream, 'timeout', now);
    }
    this.#h2?.flush();
    if (this.inFlight === 0 && keepAlive.idleMs > 0 && now - this.#now > keepAlive.idleMs) this.#close();
  }

  retire(): void {
    this.#isRetiring = true;
    if (this.#isOpen && this.inFlight === 0) this.#close();
  }

  abandon(): void {
    if (this.#connection === undefined) return;
    this.#countUnanswered(performance.now());
    this.#inFlight.clear();
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
    const connection = this.#connection as Connection;
    if (this.#config.tls === undefined) this.#meters.connect.record((now - this.#connectAt) * 1000);
    else {
      this.#meters.tls.record((now - this.#connectedAt) * 1000);
      if (connection.handshake?.().alpn !== 'h2') {
        this.#fail('alpn');
        return;
      }
    }
    const write = (bytes: Uint8Array): void => {
      this.#meters.txBytes.add(bytes.length);
      connection.writeCopy(bytes);
    };
    this.#h2 = new H2Connection({ isServer: false, write }, this);
    this.#h2.start();
    this.#meters.connections.add(1);
    if (this.#config.maxStreams <= streamsAtOnce) this.#openForRequests(now);
  }

  onReady(): void {
    if (!this.#isOpen) this.#openForRequests(this.#now);
  }

  onData({ bytes, start, end, now }: Chunk): void {
    this.#now = now;
    this.#meters.rxBytes.add(end - start);
    this.#isBatching = true;
    const error = this.#h2?.feed(bytes, start, end);
    this.#isBatching = false;
    this.#h2?.flush();
    if (error !== undefined) this.#fail('protocol');
  }

  onBody(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void {
    const entry = this.#inFlight.get(stream);
    entry?.expectation.onBody(bytes, start, end);
    if (entry?.call !== undefined) this.#onMessages(stream, entry.call, bytes.subarray(start, end));
    if (isEnd) this.#end(stream, undefined, this.#now);
  }

  onHeaders(stream: number, headers: readonly Header[], isEnd: boolean): void {
    const entry = this.#inFlight.get(stream);
    if (entry === undefined) return;
    entry.status = Number(headers.find(([name]) => name === ':status')?.[1] ?? 0);
    entry.call?.onHeaders(headers);
    this.#meters.ttfb.record((this.#now - entry.sentAt) * 1000);
    if (isEnd) this.#end(stream, undefined, this.#now);
  }

  onTrailers(stream: number, headers: readonly Header[]): void {
    this.#inFlight.get(stream)?.call?.onHeaders(headers);
  }

  onReset(stream: number, code: number): void {
    this.#end(stream, code === h2Error.refusedStream ? 'refusedStream' : 'reset', this.#now);
  }

  onGoaway(): void {
    this.#isRetiringConnection = true;
    this.#deps.owner.onLeave(this);
    if (this.inFlight === 0) this.#close();
  }

  onClose(code: string | undefined, now: number): void {
    this.#now = now;
    const lost = this.inFlight;
    const isCut = !this.#isAbandoned && (lost > 0 || !this.#isOpen);
    const failure = this.#isAbandoned ? undefined : (this.#failure ?? (isCut ? (code ?? 'closed') : undefined));
    if (failure !== undefined) this.#meters.error(failure, Math.max(1, lost));
    this.#inFlight.clear();
    this.#connection = undefined;
    this.#h2 = undefined;
    this.#isOpen = false;
    this.#isRetiringConnection = false;
    this.#deps.owner.onEnd(this, failure !== undefined || this.#sent === 0, now);
  }

  #openForRequests(now: number): void {
    this.#isOpen = true;
    const { maxStreams } = this.#config;
    const room = Math.min(maxStreams, this.#maxRequests, this.#h2?.peerMaxStreams ?? maxStreams);
    this.#isBatching = true;
    this.#deps.owner.onOpen(this, room, now);
    this.#isBatching = false;
    this.#h2?.flush();
    if (this.#isRetiring && this.inFlight === 0) this.#close();
  }

  #end(stream: number, failure: string | undefined, now: number): void {
    const entry = this.#inFlight.get(stream);
    if (entry === undefined) return;
    this.#inFlight.delete(stream);
    if (failure === undefined) this.#settle(entry, now);
    else this.#meters.error(failure);
    if (this.#isRetiring || this.#isRetiringConnection || this.#sent >= this.#maxRequests) {
      if (this.inFlight === 0) this.#close();
    } else if (!this.#isClosing) this.#deps.owner.onRoom(this, now);
  }

  #settle(entry: InFlight, now: number): void {
    this.#meters.responses.add(1);
    this.#meters.status(entry.status);
    this.#recordTimes(entry, now);
    const isCallOk = entry.call?.end() ?? true;
    if (entry.expectation.isMet(entry.status) && isCallOk) this.#meters.ok.add(1);
    else this.#meters.ko.add(1);
  }

  #createCall(now: number): GrpcCall | undefined {
    const { grpc } = this.#deps;
    return grpc && this.#calls && new GrpcCall(grpc, this.#calls, now);
  }

  /** Messages of a gRPC call; the next one may have waited for them. */
  #onMessages(stream: number, call: GrpcCall, bytes: Uint8Array): void {
    try {
      const next = call.onBody(bytes, 0, bytes.length, this.#now);
      if (next !== undefined) this.#h2?.send(stream, next.body, next.isLast);
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error;
      this.#h2?.reset(stream, h2Error.cancel);
      this.#end(stream, 'protocol', this.#now);
    }
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
    this.#fail('connectTimeout');
  }

  #close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#h2?.goaway();
    this.#connection?.close();
  }

  #fail(kind: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = kind;
    this.#isClosing = true;
    this.#connection?.reset();
  }
}
