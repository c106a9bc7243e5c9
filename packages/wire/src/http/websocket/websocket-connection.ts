import { closeCode, frameBytes, isCloseCode, opcode, WebSocketError, type WebSocketFrame } from './websocket-frame.ts';
import { WebSocketReader } from './websocket-reader.ts';

/** Compresses messages; each on its own, so that connections have no state (RFC 7692, no context takeover). */
export interface MessageCompression {
  compress(bytes: Uint8Array): Uint8Array;
  /** Throws when the bytes are damaged or longer than `maxBytes`. */
  decompress(bytes: Uint8Array, maxBytes: number): Uint8Array;
}

export interface WebSocketOptions {
  readonly isServer: boolean;
  /** Takes a copy of the bytes before it returns. */
  readonly write: (bytes: Uint8Array) => void;
  /** A number of 32 bits that others cannot guess. Clients only. */
  readonly createMask: () => number;
  readonly maxMessageBytes: number;
  readonly compression: MessageCompression | undefined;
  /** Messages are sent in frames of at most so many bytes; 0: in one. */
  readonly fragmentBytes: number;
}

export interface WebSocketEvents {
  onMessage(bytes: Uint8Array, isText: boolean): void;
  onPong(payload: Uint8Array): void;
  /** The first close frame, sent or received, or an error of the peer. The bytes below may be closed now. */
  onClosing(code: number): void;
}

const empty = new Uint8Array(0);

/** One side of an open WebSocket connection (RFC 6455), without its handshake. Answers pings itself. */
export class WebSocketConnection {
  readonly #options: WebSocketOptions;
  readonly #events: WebSocketEvents;
  readonly #reader: WebSocketReader;
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true });
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  /** Kind of the message that has begun; 0 for none. */
  #kind = 0;
  #isCompressed = false;
  #hasSentClose = false;
  #isDone = false;

  constructor(options: WebSocketOptions, events: WebSocketEvents) {
    this.#options = options;
    this.#events = events;
    const { isServer, maxMessageBytes, compression } = options;
    this.#reader = new WebSocketReader({ isServer, maxMessageBytes, mayCompress: compression !== undefined });
  }

  /** Returns what was wrong with the bytes; the close frame has been sent then. */
  feed(bytes: Uint8Array, start: number, end: number): WebSocketError | undefined {
    if (this.#isDone) return undefined;
    try {
      this.#reader.feed(bytes, start, end, (frame) => this.#take(frame));
      return undefined;
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      this.#isDone = true;
      this.#sendClose(error.code);
      this.#events.onClosing(error.code);
      return error;
    }
  }

  /** The bytes of a message, as many times as wanted on connections of a server: it does not mask. */
  messageBytes(message: Uint8Array, isText: boolean): Uint8Array {
    const { compression, fragmentBytes } = this.#options;
    const payload = compression?.compress(message) ?? message;
    const isCompressed = compression !== undefined;
    const kind = isText ? opcode.text : opcode.binary;
    if (fragmentBytes === 0 || payload.length <= fragmentBytes) return this.#frame(kind, payload, { isCompressed });
    const frames: Uint8Array[] = [];
    for (let at = 0; at < payload.length; at += fragmentBytes) {
      const part = payload.subarray(at, at + fragmentBytes);
      const isFinal = at + part.length === payload.length;
      const isFirst = at === 0;
      const options = { isFinal, isCompressed: isFirst && isCompressed };
      frames.push(this.#frame(isFirst ? kind : opcode.continuation, part, options));
    }
    return concat(frames);
  }

  send(message: Uint8Array, isText: boolean): void {
    if (!this.#hasSentClose) this.#options.write(this.messageBytes(message, isText));
  }

  ping(payload: Uint8Array): void {
    if (!this.#hasSentClose) this.#options.write(this.#frame(opcode.ping, payload));
  }

  /** The bytes below are closed by the caller once the peer has answered. */
  close(code: number): void {
    this.#sendClose(code);
  }

  #frame(kind: number, payload: Uint8Array, options: { isFinal?: boolean; isCompressed?: boolean } = {}): Uint8Array {
    const { isServer, createMask } = this.#options;
    return frameBytes(kind, payload, { ...options, mask: isServer ? undefined : createMask() });
  }

  #sendClose(code: number): void {
    if (this.#hasSentClose) return;
    this.#hasSentClose = true;
    const payload = code === closeCode.noStatus ? empty : new Uint8Array([code >>> 8, code & 255]);
    this.#options.write(this.#frame(opcode.close, payload));
  }

  #take(frame: WebSocketFrame): void {
    // Nothing counts after a close frame.
    if (this.#isDone) return;
    const { opcode: kind, payload } = frame;
    if (kind === opcode.close) this.#takeClose(payload);
    else if (kind === opcode.pong) this.#events.onPong(payload);
    else if (kind !== opcode.ping) this.#takeData(frame);
    else if (!this.#hasSentClose) this.#options.write(this.#frame(opcode.pong, payload));
  }

  #takeClose(payload: Uint8Array): void {
    if (payload.length === 1) throw new WebSocketError(closeCode.protocolError, 'half of a close code');
    const code = payload.length === 0 ? closeCode.noStatus : ((payload[0] as number) << 8) | (payload[1] as number);
    if (payload.length > 0 && !isCloseCode(code)) throw new WebSocketError(closeCode.protocolError, 'no close code');
    this.#checkText(payload.subarray(2));
    this.#isDone = true;
    this.#sendClose(code);
    this.#events.onClosing(code);
  }

  #takeData({ opcode: kind, isFinal, isCompressed, payload }: WebSocketFrame): void {
    const isFirst = kind !== opcode.continuation;
    if (isFirst === (this.#kind !== 0)) {
      throw new WebSocketError(
        closeCode.protocolError,
        isFirst ? 'a message begins inside another' : 'nothing to continue',
      );
    }
    if (isFirst) {
      this.#kind = kind;
      this.#isCompressed = isCompressed;
    }
    this.#partBytes += payload.length;
    if (this.#partBytes > this.#options.maxMessageBytes)
      throw new WebSocketError(closeCode.tooBig, 'a message is too long');
    this.#parts.push(payload);
    if (isFinal) this.#finish();
  }

  #finish(): void {
    const raw = this.#parts.length === 1 ? (this.#parts[0] as Uint8Array) : concat(this.#parts);
    const isText = this.#kind === opcode.text;
    const message = this.#isCompressed ? this.#decompressed(raw) : raw;
    this.#parts = [];
    this.#partBytes = 0;
    this.#kind = 0;
    if (isText) this.#checkText(message);
    this.#events.onMessage(message, isText);
  }

  #decompressed(bytes: Uint8Array): Uint8Array {
    const { compression, maxMessageBytes } = this.#options;
    try {
      return compression?.decompress(bytes, maxMessageBytes) ?? bytes;
    } catch (error) {
      const isLong = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE';
      throw new WebSocketError(isLong ? closeCode.tooBig : closeCode.invalidPayload, 'cannot be decompressed');
    }
  }

  #checkText(bytes: Uint8Array): void {
    try {
      this.#utf8.decode(bytes);
    } catch {
      throw new WebSocketError(closeCode.invalidPayload, 'a text is not UTF-8');
    }
  }
}

const concat = (parts: readonly Uint8Array[]): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};
