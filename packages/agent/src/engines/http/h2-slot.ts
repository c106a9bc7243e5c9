import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { HttpClientConfig, Target } from '@rushhour/protocol';
import { dialSocket } from '../../net/transport/dial-socket.ts';
import type { Route } from '../../net/transport/transport.ts';
import type { Expectation } from './expectation.ts';
import type { HttpMeters } from './meters.ts';
import { authorityOf } from './request.ts';
import type { Slot, SlotOwner, SlotPlan } from './slot.ts';

interface InFlight {
  readonly stream: ClientHttp2Stream;
  readonly intended: number;
  readonly sentAt: number;
  readonly expectation: Expectation;
  status: number;
  failure: string | undefined;
}

export interface H2SlotDeps {
  readonly index: number;
  readonly plan: SlotPlan;
  readonly owner: SlotOwner;
}

/** HTTP/2 on consecutive connections, with up to `maxStreams` requests in flight. */
export class H2Slot implements Slot {
  readonly index: number;
  setIndex = -1;
  session = 0;
  readonly #deps: H2SlotDeps;
  readonly #config: HttpClientConfig;
  readonly #nextBody: () => Buffer | undefined;
  readonly #maxRequests: number;
  readonly #inFlight = new Set<InFlight>();
  #headers: Record<string, string> = {};
  #client: ClientHttp2Session | undefined;
  #socket: Socket | undefined;
  #meters!: HttpMeters;
  #sent = 0;
  #bytesRead = 0;
  #bytesWritten = 0;
  #connectAt = 0;
  #isOpen = false;
  #isRetiring = false;
  #isAbandoned = false;
  #failure: string | undefined;
  #sessionIntended = Number.NaN;

  constructor(deps: H2SlotDeps) {
    const { config } = deps.plan;
    this.#deps = deps;
    this.index = deps.index;
    this.#config = config;
    this.#nextBody = deps.plan.nextBody;
    this.#maxRequests = config.keepAlive.enabled ? config.keepAlive.maxRequests || Number.POSITIVE_INFINITY : 1;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  connect(intended: number): void {
    const { httpTarget, route } = this.#deps.plan.chooseTarget(this.index);
    const { target, meters } = httpTarget;
    this.session++;
    this.#meters = meters;
    this.#sent = 0;
    this.#bytesRead = 0;
    this.#bytesWritten = 0;
    this.#failure = undefined;
    this.#sessionIntended = intended;
    this.#connectAt = performance.now();
    this.#headers = this.#headersFor(target);
    const socket = this.#open(route);
    this.#socket = socket;
    const scheme = this.#config.tls === undefined ? 'http' : 'https';
    const client = connect(`${scheme}://${authorityOf(this.#config, target)}`, { createConnection: () => socket });
    this.#client = client;
    client.on('connect', () => this.#onOpen());
    client.on('error', (error: NodeJS.ErrnoException) => {
      this.#failure ??= error.code ?? error.message;
    });
    client.on('close', () => this.#onClose());
  }

  begin(intended: number, now: number): void {
    const client = this.#client as ClientHttp2Session;
    const body = this.#nextBody();
    const length = body === undefined ? undefined : { 'content-length': String(body.length) };
    const stream = client.request({ ...this.#headers, ...length }, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    const due = this.#sent === 0 && this.#sessionIntended < intended ? this.#sessionIntended : intended;
    const expectation = this.#deps.plan.createExpectation();
    const entry: InFlight = { stream, intended: due, sentAt: now, expectation, status: 0, failure: undefined };
    this.#inFlight.add(entry);
    this.#sent++;
    this.#meters.requests.add(1);
    stream.on('response', (headers) => {
      entry.status = headers[':status'] ?? 0;
      this.#meters.ttfb.record((performance.now() - now) * 1000);
    });
    stream.on('data', (bytes: Buffer) => expectation.onBody(bytes, 0, bytes.length));
    stream.on('error', (error: NodeJS.ErrnoException) => {
      entry.failure ??= error.code ?? error.message;
    });
    stream.on('close', () => this.#onStreamEnd(entry));
  }

  sweep(now: number): void {
    this.#countBytes();
    if (this.#client === undefined) return;
    if (!this.#isOpen && now - this.#connectAt > this.#config.timeoutMs) {
      if (!Number.isNaN(this.#sessionIntended)) this.#meters.latency.record((now - this.#sessionIntended) * 1000);
      this.#fail('connectTimeout');
    }
    for (const entry of this.#inFlight) {
      if (now - entry.sentAt <= this.#config.timeoutMs) break;
      entry.failure ??= 'timeout';
      entry.stream.close(constants.NGHTTP2_CANCEL);
    }
  }

  retire(): void {
    this.#isRetiring = true;
    if (this.#isOpen && this.inFlight === 0) this.#client?.close();
  }

  abandon(): void {
    if (this.#client === undefined) return;
    if (this.inFlight > 0) this.#meters.unanswered(this.inFlight);
    this.#isRetiring = true;
    this.#isAbandoned = true;
    this.#inFlight.clear();
    this.#client.destroy();
  }

  #open(route: Route): Socket {
    const tcp = dialSocket(route);
    tcp.on('connect', () => this.#meters.connect.record((performance.now() - this.#connectAt) * 1000));
    const { startTls } = this.#deps.plan;
    if (startTls === undefined) return tcp;
    const connectedAt = () => performance.now() - this.#connectAt;
    let beganAt = 0;
    tcp.on('connect', () => {
      beganAt = connectedAt();
    });
    const socket = startTls(tcp, route);
    return socket.on('secureConnect', () => {
      this.#meters.tls.record((connectedAt() - beganAt) * 1000);
      if (socket.isSessionReused()) this.#meters.resumed();
    });
  }

  #headersFor(target: Target): Record<string, string> {
    const own = Object.fromEntries(this.#config.headers.map(({ name, value }) => [name.toLowerCase(), value]));
    const { connection: _, ...headers } = own;
    return {
      ':method': this.#config.method,
      ':path': this.#config.path,
      ':authority': authorityOf(this.#config, target),
      ...headers,
    };
  }

  #onOpen(): void {
    this.#isOpen = true;
    this.#meters.connections.add(1);
    const allowed = this.#client?.remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY;
    const room = Math.min(this.#config.maxStreams, this.#maxRequests, allowed);
    this.#deps.owner.onOpen(this, room, performance.now());
    if (this.#isRetiring && this.inFlight === 0) this.#client?.close();
  }

  #onStreamEnd(entry: InFlight): void {
    if (!this.#inFlight.delete(entry)) return;
    const now = performance.now();
    const failure = entry.failure ?? (entry.status === 0 || entry.stream.rstCode !== 0 ? 'reset' : undefined);
    if (failure === undefined) this.#settle(entry, now);
    else this.#meters.error(failure);
    // Requests that time out count with the time they waited.
    if (failure === 'timeout') this.#recordTimes(entry, now);
    if (this.#isRetiring || this.#sent >= this.#maxRequests) {
      if (this.inFlight === 0) this.#client?.close();
    } else if (this.#client !== undefined && !this.#client.closed && !this.#client.destroyed) {
      this.#deps.owner.onRoom(this, now);
    }
  }

  #recordTimes(entry: InFlight, now: number): void {
    this.#meters.latency.record((now - entry.intended) * 1000);
    this.#meters.service.record((now - entry.sentAt) * 1000);
  }

  #settle(entry: InFlight, now: number): void {
    this.#meters.responses.add(1);
    this.#meters.status(entry.status);
    this.#recordTimes(entry, now);
    if (entry.expectation.isMet(entry.status)) this.#meters.ok.add(1);
    else this.#meters.ko.add(1);
  }

  #onClose(): void {
    if (this.#client === undefined) return;
    this.#countBytes();
    const lost = this.inFlight;
    const isCut = !this.#isAbandoned && (lost > 0 || !this.#isOpen);
    const failure = this.#isAbandoned ? undefined : (this.#failure ?? (isCut ? 'closed' : undefined));
    if (failure !== undefined) this.#meters.error(failure, Math.max(1, lost));
    this.#inFlight.clear();
    this.#client = undefined;
    this.#isOpen = false;
    this.#deps.owner.onEnd(this, failure !== undefined || this.#sent === 0, performance.now());
  }

  #countBytes(): void {
    const { bytesRead = 0, bytesWritten = 0 } = this.#socket ?? {};
    this.#meters?.rxBytes.add(Math.max(0, bytesRead - this.#bytesRead));
    this.#meters?.txBytes.add(Math.max(0, bytesWritten - this.#bytesWritten));
    this.#bytesRead = Math.max(bytesRead, this.#bytesRead);
    this.#bytesWritten = Math.max(bytesWritten, this.#bytesWritten);
  }

  #fail(kind: string): void {
    this.#failure ??= kind;
    this.#client?.destroy();
  }
}
