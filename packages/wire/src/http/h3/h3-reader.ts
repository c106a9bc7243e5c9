import { readVarint, varintLengthAt } from '../../quic/varint.ts';
import { failH3, H3StreamError, h3Error, h3Frame, isReservedFrame } from './h3-frame.ts';

/** Frames of one stream. */
export interface H3FrameHandler {
  /** A part of a body. */
  onData(bytes: Uint8Array, start: number, end: number): void;
  /** Any other known frame, whole. */
  onFrame(type: number, bytes: Uint8Array, start: number, end: number): void;
}

const maxHeadBytes = 16;
const maxFrameBytes = 131_072;
const known = new Set<number>(Object.values(h3Frame));

/** Splits a stream into frames; it may arrive in any parts. Frames of unknown types are skipped. */
export class H3FrameReader {
  readonly #handler: H3FrameHandler;
  /** The first bytes of a frame whose type and length are not yet complete. */
  #head: Uint8Array | undefined;
  #headLength = 0;
  #type = -1;
  /** What is missing of the frame at hand. */
  #left = 0;
  /** The parts of the frame at hand that came before. */
  #payload: Uint8Array | undefined;
  #payloadLength = 0;

  constructor(handler: H3FrameHandler) {
    this.#handler = handler;
  }

  /** Whether the stream may end here. */
  get isBetweenFrames(): boolean {
    return this.#headLength === 0 && this.#type < 0;
  }

  feed(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.#type < 0) at = this.#readHead(bytes, at, end);
      if (this.#type >= 0) at = this.#readPayload(bytes, at, end);
    }
  }

  #readHead(bytes: Uint8Array, start: number, end: number): number {
    if (this.#headLength === 0) {
      const whole = this.#parseHead(bytes, start, end);
      if (whole > 0) return whole;
    }
    this.#head ??= new Uint8Array(maxHeadBytes);
    let at = start;
    while (at < end) {
      this.#head[this.#headLength++] = bytes[at++] as number;
      if (this.#parseHead(this.#head, 0, this.#headLength) > 0) {
        this.#headLength = 0;
        return at;
      }
    }
    return at;
  }

  /** Where the payload begins; -1 if type or length are cut. */
  #parseHead(bytes: Uint8Array, start: number, end: number): number {
    const lengthAt = start + varintLengthAt(bytes[start] as number);
    if (lengthAt >= end) return -1;
    const payloadAt = lengthAt + varintLengthAt(bytes[lengthAt] as number);
    if (payloadAt > end) return -1;
    this.#begin(readVarint(bytes, start), readVarint(bytes, lengthAt));
    return payloadAt;
  }

  #begin(type: number, length: number): void {
    if (isReservedFrame(type)) failH3(h3Error.frameUnexpected, `a frame of type ${type} belongs to HTTP/2`);
    if (length > maxFrameBytes && type !== h3Frame.data && known.has(type))
      throw new H3StreamError(h3Error.excessiveLoad, `a frame of ${length} bytes is too long`);
    this.#type = type;
    this.#left = length;
    this.#payloadLength = 0;
    if (length === 0) this.#finish(new Uint8Array(0), 0, 0);
  }

  #readPayload(bytes: Uint8Array, at: number, end: number): number {
    const count = Math.min(this.#left, end - at);
    this.#left -= count;
    if (this.#type === h3Frame.data) {
      if (this.#left === 0) this.#type = -1;
      this.#handler.onData(bytes, at, at + count);
    } else if (this.#left === 0 && this.#payloadLength === 0) this.#finish(bytes, at, at + count);
    else if (known.has(this.#type)) this.#keep(bytes, at, at + count);
    else if (this.#left === 0) this.#type = -1;
    return at + count;
  }

  #keep(bytes: Uint8Array, start: number, end: number): void {
    const length = this.#payloadLength + end - start;
    const whole = length + this.#left;
    if (this.#payload === undefined || this.#payload.length < whole || this.#payloadLength === 0)
      this.#payload = new Uint8Array(whole);
    this.#payload.set(bytes.subarray(start, end), this.#payloadLength);
    this.#payloadLength = length;
    if (this.#left > 0) return;
    const payload = this.#payload;
    this.#payload = undefined;
    this.#finish(payload, 0, length);
  }

  #finish(bytes: Uint8Array, start: number, end: number): void {
    const type = this.#type;
    this.#type = -1;
    this.#payloadLength = 0;
    if (type === h3Frame.data) this.#handler.onData(bytes, start, end);
    else if (known.has(type)) this.#handler.onFrame(type, bytes, start, end);
  }
}
