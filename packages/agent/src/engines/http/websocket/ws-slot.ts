import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { HttpClientConfig, Target, WebSocketSettings } from '@rushhour/protocol';
import {
  agreedOf,
  closeCode,
  parseUpgradeHead,
  upgradeHeaders,
  WebSocketConnection,
  type WebSocketEvents,
} from '@rushhour/wire';
import type { Chunk, Connection, ConnectionEvents, Transport } from '../../../net/transport/transport.ts';
import type { HttpMeters } from '../meters.ts';
import { createRequest } from '../request.ts';
import type { Slot, SlotOwner, SlotPlan } from '../slot.ts';
import { messageCompression } from './compression.ts';
import { HeadCollector } from './head-collector.ts';
import { createMask } from './messages.ts';
import type { ClientMessageMeters } from './meters.ts';

export interface WsSlotDeps {
  readonly index: number;
  readonly plan: SlotPlan;
  readonly transport: Transport;
  readonly owner: SlotOwner;
  readonly settings: WebSocketSettings;
  readonly nextMessage: () => Buffer;
}

interface InFlight {
  readonly intended: number;
  readonly sentAt: number;
  readonly message: Buffer;
}

/** How long a peer may take to answer a close frame. */
const closeWaitMs = 1000;

type State = 'closed' | 'connecting' | 'upgrading' | 'open' | 'closing';

/** WebSockets one after another. A message under way is one that waits for its echo or for the kernel to take it. */
export class WsSlot implements Slot, ConnectionEvents, WebSocketEvents {
  readonly index: number;
  setIndex = -1;
  session = 0;
  /** Only where it is needed: transports take a slower path for it. */
  onSent?: (now: number) => void;
  readonly #deps: WsSlotDeps;
  readonly #config: HttpClientConfig;
  readonly #settings: WebSocketSettings;
  readonly #maxMessages: number;
  readonly #head = new HeadCollector();
  #state: State = 'closed';
  #inFlight: InFlight[] = [];
  #target!: Target;
  #meters!: HttpMeters;
  #messages!: ClientMessageMeters;
  #connection: Connection | undefined;
  #webSocket: WebSocketConnection | undefined;
  #key = '';
  /** Messages sent, or received where the server sends. */
  #count = 0;
  #connectAt = 0;
  #connectedAt = 0;
  #requestedAt = 0;
  #closingAt = 0;
  #receivedAt = Number.NaN;
  #pingedAt = Number.NaN;
  #nextPing = 0;
  #sessionIntended = Number.NaN;
  #now = 0;
  #isRetiring = false;
  #isAbandoned = false;
  #failure: string | undefined;

  constructor(deps: WsSlotDeps) {
    const { config } = deps.plan;
    this.#deps = deps;
    this.index = deps.index;
    this.#config = config;
    this.#settings = deps.settings;
    this.#maxMessages = config.keepAlive.enabled ? config.keepAlive.maxRequests || Number.POSITIVE_INFINITY : 1;
    if (deps.settings.mode === 'send') this.onSent = (now) => this.#endSent(now);
  }

  get inFlight(): number {
    return this.#inFlight.length;
  }

  connect(intended: number): void {
    const { httpTarget, route } = this.#deps.plan.chooseTarget(this.index);
    this.session++;
    this.#meters = httpTarget.meters;
    this.#messages = httpTarget.messages as ClientMessageMeters;
    this.#key = randomBytes(16).toString('base64');
    this.#head.reset();
    this.#count = 0;
    this.#failure = undefined;
    this.#receivedAt = Number.NaN;
    this.#pingedAt = Number.NaN;
    this.#sessionIntended = intended;
    this.#state = 'connecting';
    this.#connectAt = performance.now();
    this.#connectedAt = this.#connectAt;
    this.#target = httpTarget.target;
    this.#connection = this.#deps.transport.connect(route, this);
  }

  begin(intended: number, now: number): void {
    if (this.#state !== 'open' || this.#settings.mode === 'receive') return;
    const message = this.#deps.nextMessage();
    const due = this.#count === 0 && this.#sessionIntended < intended ? this.#sessionIntended : intended;
    this.#count++;
    this.#inFlight.push({ intended: due, sentAt: now, message });
    this.#messages.sent.add(1);
    this.#webSocket?.send(message, this.#settings.isText);
  }

  sweep(now: number): void {
    const { timeoutMs, keepAlive } = this.#config;
    if (this.#state === 'connecting' || this.#state === 'upgrading') {
      if (now - this.#connectAt > timeoutMs) this.#timeOut('connectTimeout', now);
    } else if (this.#state === 'closing') {
      if (now - this.#closingAt > closeWaitMs) this.#fail('closeTimeout');
    } else if (this.#state === 'open') {
      const oldest = this.#inFlight[0];
      if (oldest !== undefined && now - oldest.sentAt > timeoutMs) this.#timeOut('timeout', now);
      else if (now - this.#pingedAt > timeoutMs) this.#fail('pongTimeout');
      else if (oldest === undefined && keepAlive.idleMs > 0 && now - this.#now > keepAlive.idleMs) this.#close();
      else this.#pingIfDue(now);
    }
  }

  retire(): void {
    this.#isRetiring = true;
    if (this.#state === 'open' && this.inFlight === 0) this.#close();
  }

  abandon(): void {
    if (this.#connection === undefined) return;
    this.#countUnanswered(performance.now());
    this.#inFlight = [];
    this.#isRetiring = true;
    this.#isAbandoned = true;
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
    if (this.#state !== 'connecting') return;
    if (this.#config.tls === undefined) this.#meters.connect.record((now - this.#connectAt) * 1000);
    else this.#meters.tls.record((now - this.#connectedAt) * 1000);
    this.#meters.connections.add(1);
    this.#meters.requests.add(1);
    this.#requestedAt = now;
    this.#state = 'upgrading';
    const { subprotocol, isCompressed } = this.#settings;
    const lines = upgradeHeaders(this.#key, { subprotocol, isCompressed });
    const plain = createRequest(
      { ...this.#config, keepAlive: { ...this.#config.keepAlive, enabled: true } },
      this.#target,
    );
    this.#write(Buffer.concat([plain.subarray(0, -2), Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')]));
  }

  onData(chunk: Chunk): void {
    this.#now = chunk.now;
    this.#meters.rxBytes.add(chunk.end - chunk.start);
    if (this.#webSocket === undefined) this.#readAnswer(chunk);
    else this.#feed(chunk.bytes, chunk.start, chunk.end);
  }

  onMessage(bytes: Uint8Array): void {
    this.#messages.received.add(1);
    const { mode } = this.#settings;
    if (mode === 'echo') this.#takeEcho(bytes);
    else if (mode === 'receive') this.#takePushed();
  }

  onPong(): void {
    if (Number.isNaN(this.#pingedAt)) return;
    this.#messages.ping.record((this.#now - this.#pingedAt) * 1000);
    this.#pingedAt = Number.NaN;
  }

  onClosing(code: number): void {
    this.#messages.closed(code);
    this.#state = 'closing';
    this.#connection?.close();
  }

  onClose(code: string | undefined, now: number): void {
    const isCut = !this.#isAbandoned && (this.inFlight > 0 || this.#state !== 'closing');
    const failure = this.#isAbandoned ? undefined : (this.#failure ?? (isCut ? (code ?? 'closed') : undefined));
    if (this.#state === 'open' && !this.#isAbandoned) this.#messages.closed(closeCode.abnormal);
    if (failure !== undefined) this.#meters.error(failure, Math.max(1, this.inFlight));
    this.#inFlight = [];
    this.#state = 'closed';
    this.#connection = undefined;
    this.#webSocket = undefined;
    this.#deps.owner.onEnd(this, failure !== undefined || this.#count === 0, now);
  }

  #readAnswer(chunk: Chunk): void {
    const head = this.#collect(chunk);
    if (head === undefined) return;
    const answer = parseUpgradeHead(head.text);
    const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(answer.startLine)?.[1] ?? 0);
    const agreed = status === 101 ? agreedOf(answer, this.#key, this.#settings.isCompressed) : undefined;
    if (status === 0) {
      this.#fail('protocol');
      return;
    }
    this.#meters.responses.add(1);
    this.#meters.status(status);
    if (agreed === undefined) {
      this.#meters.ko.add(1);
      this.#fail(status === 101 ? 'protocol' : 'upgrade');
      return;
    }
    this.#meters.ok.add(1);
    this.#messages.upgrade.record((chunk.now - this.#requestedAt) * 1000);
    this.#openWith(agreed.isCompressed);
    if (head.rest.length > 0 && this.#webSocket !== undefined) this.#feed(head.rest, 0, head.rest.length);
  }

  #collect(chunk: Chunk): ReturnType<HeadCollector['feed']> {
    try {
      return this.#head.feed(chunk);
    } catch {
      this.#fail('protocol');
      return undefined;
    }
  }

  #openWith(isCompressed: boolean): void {
    const { maxMessageBytes, fragmentBytes, mode, pingIntervalMs } = this.#settings;
    const compression = isCompressed ? messageCompression : undefined;
    const write = (bytes: Uint8Array): void => this.#write(bytes);
    const options = { isServer: false, write, createMask, maxMessageBytes, fragmentBytes, compression };
    this.#webSocket = new WebSocketConnection(options, this);
    this.#state = 'open';
    this.#nextPing = this.#now + pingIntervalMs;
    const room = mode === 'receive' ? 0 : Math.min(this.#config.pipelining, this.#maxMessages);
    this.#deps.owner.onOpen(this, room, this.#now);
    if (this.#isRetiring && this.inFlight === 0) this.#close();
  }

  #feed(bytes: Uint8Array, start: number, end: number): void {
    if (this.#webSocket?.feed(bytes, start, end) !== undefined) this.#failure ??= 'protocol';
  }

  /** A message that is not the oldest one under way is no echo: some servers greet. */
  #takeEcho(bytes: Uint8Array): void {
    const oldest = this.#inFlight[0];
    if (oldest === undefined) return;
    if (Buffer.compare(oldest.message, bytes) !== 0) {
      this.#meters.error('echo');
      return;
    }
    this.#inFlight.shift();
    this.#record(oldest, this.#now);
    this.#goOn(this.#now);
  }

  #takePushed(): void {
    this.#count++;
    if (!Number.isNaN(this.#receivedAt)) this.#messages.gap.record((this.#now - this.#receivedAt) * 1000);
    this.#receivedAt = this.#now;
    if (this.#count >= this.#maxMessages) this.#close();
  }

  /** The kernel has taken all messages. */
  #endSent(now: number): void {
    const count = this.inFlight;
    this.#inFlight = [];
    this.#now = now;
    for (let i = 0; i < count; i++) this.#goOn(now);
  }

  #goOn(now: number): void {
    if (this.#isRetiring || this.#count >= this.#maxMessages) {
      if (this.inFlight === 0) this.#close();
    } else if (this.#state === 'open') this.#deps.owner.onRoom(this, now);
  }

  #record(entry: InFlight, now: number): void {
    this.#messages.latency.record((now - entry.intended) * 1000);
    this.#messages.service.record((now - entry.sentAt) * 1000);
  }

  #pingIfDue(now: number): void {
    const { pingIntervalMs } = this.#settings;
    if (pingIntervalMs === 0 || now < this.#nextPing || !Number.isNaN(this.#pingedAt)) return;
    this.#nextPing = Math.max(now, this.#nextPing + pingIntervalMs);
    this.#pingedAt = now;
    this.#webSocket?.ping(new Uint8Array(0));
  }

  #write(bytes: Uint8Array): void {
    this.#meters.txBytes.add(bytes.length);
    this.#connection?.writeCopy(bytes);
  }

  #countUnanswered(now: number): void {
    const isOpening = this.#state === 'connecting' || this.#state === 'upgrading';
    if (isOpening) this.#meters.unopened({ intended: this.#sessionIntended, connectAt: this.#connectAt }, now);
    if (this.inFlight > 0) this.#meters.unanswered(this.inFlight);
    for (const entry of this.#inFlight) this.#meters.waited(entry, now);
  }

  #timeOut(kind: 'timeout' | 'connectTimeout', now: number): void {
    for (const entry of this.#inFlight) this.#record(entry, now);
    this.#fail(kind);
  }

  #close(): void {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.#closingAt = performance.now();
    this.#webSocket?.close(this.#settings.closeCode);
  }

  #fail(kind: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = kind;
    this.#connection?.reset();
  }
}
