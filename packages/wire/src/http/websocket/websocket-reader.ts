import { applyMask, closeCode, opcode, WebSocketError, type WebSocketFrame } from './websocket-frame.ts';

export interface ReaderOptions {
  /** A server takes masked frames only, a client none. */
  readonly isServer: boolean;
  readonly maxMessageBytes: number;
  /** Messages may be compressed. */
  readonly mayCompress: boolean;
}

const fail = (message: string, code: number = closeCode.protocolError): never => {
  throw new WebSocketError(code, message);
};

/** A longer buffer is given back once it is empty. */
const keptBytes = 65_536;
const known: ReadonlySet<number> = new Set(Object.values(opcode));

interface FrameHead {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly isCompressed: boolean;
  readonly mask: number | undefined;
  readonly start: number;
  readonly length: number;
}

/** Splits a byte stream into frames. */
export class WebSocketReader {
  readonly #options: ReaderOptions;
  /** The frame that has arrived in part, in a buffer with room for more. */
  #rest = new Uint8Array(0);
  #restLength = 0;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  feed(bytes: Uint8Array, start: number, end: number, onFrame: (frame: WebSocketFrame) => void): void {
    let [data, at, to] = [bytes, start, end];
    const isContinued = this.#restLength > 0;
    if (isContinued) {
      this.#keep(bytes, start, end);
      [data, at, to] = [this.#rest, 0, this.#restLength];
    }
    while (at < to) {
      const head = this.#head(data, at, to);
      if (head === undefined || head.start + head.length > to) break;
      const payload = new Uint8Array(data.subarray(head.start, head.start + head.length));
      if (head.mask !== undefined) applyMask(payload, head.mask);
      at = head.start + head.length;
      onFrame({ opcode: head.opcode, isFinal: head.isFinal, isCompressed: head.isCompressed, payload });
    }
    if (!isContinued) {
      this.#restLength = 0;
      this.#keep(data, at, to);
    } else if (at > 0) {
      this.#rest.copyWithin(0, at, to);
      this.#restLength = to - at;
    }
    if (this.#restLength === 0 && this.#rest.length > keptBytes) this.#rest = new Uint8Array(0);
  }

  #keep(bytes: Uint8Array, start: number, end: number): void {
    const needed = this.#restLength + end - start;
    if (needed > this.#rest.length) {
      const grown = new Uint8Array(Math.max(needed, this.#rest.length * 2));
      grown.set(this.#rest.subarray(0, this.#restLength));
      this.#rest = grown;
    }
    this.#rest.set(bytes.subarray(start, end), this.#restLength);
    this.#restLength = needed;
  }

  /** Undefined until all of the head has arrived. */
  #head(bytes: Uint8Array, at: number, end: number): FrameHead | undefined {
    if (end - at < 2) return undefined;
    const first = bytes[at] as number;
    const second = bytes[at + 1] as number;
    const kind = first & 15;
    const isFinal = (first & 0x80) !== 0;
    const isCompressed = (first & 0x40) !== 0;
    this.#check({ kind, isFinal, isCompressed, short: second & 127, reserved: first & 0x30 });
    const isMasked = (second & 0x80) !== 0;
    if (isMasked !== this.#options.isServer) fail(isMasked ? 'a server does not mask' : 'a client masks');
    const length = this.#length(bytes, at, end);
    if (length === undefined) return undefined;
    const lengthBytes = (second & 127) < 126 ? 0 : (second & 127) === 126 ? 2 : 8;
    const start = at + 2 + lengthBytes + (isMasked ? 4 : 0);
    if (start > end) return undefined;
    const mask = isMasked ? uint32At(bytes, start - 4) : undefined;
    return { opcode: kind, isFinal, isCompressed, mask, start, length };
  }

  #check(head: { kind: number; isFinal: boolean; isCompressed: boolean; short: number; reserved: number }): void {
    const { kind, isFinal, isCompressed, short, reserved } = head;
    if (reserved !== 0) fail('a reserved bit is set');
    if (!known.has(kind)) fail('unknown kind of frame');
    const isControl = kind >= opcode.close;
    if (isControl && (!isFinal || short > 125)) fail('control frames are short and in one piece');
    if (isCompressed && (!this.#options.mayCompress || isControl || kind === opcode.continuation)) {
      fail('a compressed frame where none may be');
    }
  }

  #length(bytes: Uint8Array, at: number, end: number): number | undefined {
    const short = (bytes[at + 1] as number) & 127;
    if (short < 126) return short;
    if (end - at < (short === 126 ? 4 : 10)) return undefined;
    const length =
      short === 126
        ? ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)
        : uint32At(bytes, at + 2) * 2 ** 32 + uint32At(bytes, at + 6);
    if (length < (short === 126 ? 126 : 65_536)) fail('a length is not written in its shortest form');
    if (length > this.#options.maxMessageBytes) fail('a frame is too long', closeCode.tooBig);
    return length;
  }
}

const uint32At = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)) >>>
  0;
