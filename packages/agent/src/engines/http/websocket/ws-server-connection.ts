import type { WebSocketSettings } from '@rushhour/protocol';
import { answerUpgrade, parseUpgradeHead, WebSocketConnection, type WebSocketEvents } from '@rushhour/wire';
import type { IndexedMember, IndexedSet } from '../../../net/loop/indexed-set.ts';
import type { Chunk, Connection, ConnectionEvents, Message } from '../../../net/transport/transport.ts';
import type { ServerMeters } from '../meters.ts';
import { messageCompression } from './compression.ts';
import { HeadCollector } from './head-collector.ts';
import type { MessageMeters } from './meters.ts';

export interface WsServerDeps {
  readonly settings: WebSocketSettings;
  readonly meters: ServerMeters;
  readonly messages: MessageMeters;
  readonly idleMs: number;
  /** Open connections. */
  readonly connections: IndexedSet<WsServerConnection>;
}

/** One WebSocket of a server. */
export class WsServerConnection implements ConnectionEvents, WebSocketEvents, IndexedMember {
  setIndex = -1;
  /** Only where it is needed: transports take a slower path for it. */
  onSent?: () => void;
  readonly #connection: Connection;
  readonly #deps: WsServerDeps;
  readonly #head = new HeadCollector();
  #webSocket: WebSocketConnection | undefined;
  #isCompressed = false;
  #isClosing = false;
  /** The client has not read all that was sent. */
  #isBehind = false;
  #usedAt = performance.now();

  constructor(connection: Connection, deps: WsServerDeps) {
    this.#connection = connection;
    this.#deps = deps;
    if (deps.settings.mode === 'receive') {
      this.onSent = () => {
        this.#isBehind = false;
      };
    }
    deps.connections.add(this);
    deps.meters.concurrent.add(1);
    deps.meters.connections.add(1);
  }

  /** Which of the prepared forms of a message the connection takes; undefined before the handshake. */
  get isCompressed(): boolean | undefined {
    return this.#webSocket === undefined || this.#isClosing ? undefined : this.#isCompressed;
  }

  onOpen(): void {}

  onData({ bytes, start, end, now, ...more }: Chunk): void {
    this.#usedAt = now;
    this.#deps.meters.rxBytes.add(end - start);
    if (this.#isClosing) return;
    if (this.#webSocket === undefined) this.#upgrade({ bytes, start, end, now, ...more });
    else this.#feed(bytes, start, end);
  }

  onMessage(bytes: Uint8Array, isText: boolean): void {
    const { settings, messages } = this.#deps;
    messages.received.add(1);
    if (settings.mode !== 'echo') return;
    messages.sent.add(1);
    this.#webSocket?.send(bytes, isText);
  }

  onPong(): void {}

  onClosing(code: number): void {
    this.#deps.messages.closed(code);
    this.#isClosing = true;
    this.#connection.close();
  }

  onClose(code: string | undefined): void {
    const { meters, connections } = this.#deps;
    if (code !== undefined) meters.error(code);
    this.#isClosing = true;
    connections.delete(this);
    meters.concurrent.add(-1);
  }

  /** A message of the server by itself. It is held back while the client does not read. */
  push(message: Message): void {
    const { messages, meters } = this.#deps;
    if (this.#isBehind) {
      messages.held();
      return;
    }
    this.#isBehind = true;
    messages.sent.add(1);
    meters.txBytes.add(message.bytes.length);
    this.#connection.write(message);
  }

  /** Closes the connection when it is idle for too long. */
  sweep(now: number): void {
    if (now - this.#usedAt > this.#deps.idleMs) this.#connection.close();
  }

  #upgrade(chunk: Chunk): void {
    const { settings, meters } = this.#deps;
    const head = this.#collect(chunk);
    if (head === undefined) return;
    const { subprotocol, isCompressed: mayCompress } = settings;
    const answer = answerUpgrade(parseUpgradeHead(head.text), { subprotocol, mayCompress });
    meters.requests.add(1);
    meters.status(answer.status);
    this.#write(Buffer.from(answer.text, 'latin1'));
    if (answer.status !== 101) {
      this.#refuse();
      return;
    }
    this.#isCompressed = answer.isCompressed;
    this.#webSocket = this.#createWebSocket();
    if (head.rest.length > 0) this.#feed(head.rest, 0, head.rest.length);
  }

  #createWebSocket(): WebSocketConnection {
    const { maxMessageBytes, fragmentBytes } = this.#deps.settings;
    const compression = this.#isCompressed ? messageCompression : undefined;
    const write = (bytes: Uint8Array): void => this.#write(bytes);
    const options = { isServer: true, write, createMask: () => 0, maxMessageBytes, fragmentBytes, compression };
    return new WebSocketConnection(options, this);
  }

  #collect(chunk: Chunk): ReturnType<HeadCollector['feed']> {
    try {
      return this.#head.feed(chunk);
    } catch {
      this.#deps.meters.error('protocol');
      this.#refuse();
      return undefined;
    }
  }

  #refuse(): void {
    this.#isClosing = true;
    this.#connection.close();
  }

  #feed(bytes: Uint8Array, start: number, end: number): void {
    if (this.#webSocket?.feed(bytes, start, end) !== undefined) this.#deps.meters.error('protocol');
  }

  #write(bytes: Uint8Array): void {
    this.#deps.meters.txBytes.add(bytes.length);
    this.#connection.writeCopy(bytes);
  }
}
