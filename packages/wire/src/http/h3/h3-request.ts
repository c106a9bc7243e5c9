import { copyOf } from '../../bytes/memory.ts';
import type { Header } from '../hpack.ts';
import { contentLengthOf, messageProblem } from '../message-rules.ts';
import { failH3, H3StreamError, h3Error, h3Frame } from './h3-frame.ts';
import { type H3FrameHandler, H3FrameReader } from './h3-reader.ts';

/** What a request stream reports. */
export interface H3RequestOwner {
  readonly isServer: boolean;
  /** The headers of a block; undefined: they will be given by `onBlock` later. */
  decode(request: H3Request, bytes: Uint8Array, start: number, end: number): Header[] | undefined;
  onHeaders(stream: number, headers: readonly Header[], isEnd: boolean): void;
  onBody(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void;
  onTrailers(stream: number, headers: readonly Header[]): void;
}

const empty = new Uint8Array(0);

/** The message that arrives on a request stream. */
export class H3Request implements H3FrameHandler {
  readonly id: number;
  readonly #owner: H3RequestOwner;
  readonly #reader = new H3FrameReader(this);
  /** What has arrived while a block waits for entries of the table. */
  #waiting: { readonly bytes: Uint8Array; readonly isEnd: boolean }[] | undefined;
  /** A block of headers of the last read; reported once it is known whether the stream ends with it. */
  #headers: readonly Header[] | undefined;
  #phase: 'headers' | 'body' | 'trailers' = 'headers';
  #isEnd = false;
  #contentLength = -1;
  #received = 0;

  constructor(id: number, owner: H3RequestOwner) {
    this.id = id;
    this.#owner = owner;
  }

  get isDone(): boolean {
    return this.#isEnd && this.#waiting === undefined;
  }

  feed(bytes: Uint8Array, start: number, end: number, isEnd: boolean): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push({ bytes: copyOf(bytes, start, end), isEnd });
      return;
    }
    this.#isEnd = isEnd;
    this.#reader.feed(bytes, start, end);
    if (isEnd && this.#waiting === undefined) this.#finish();
    else this.#report(false);
  }

  onData(bytes: Uint8Array, start: number, end: number): void {
    if (this.#hold(h3Frame.data, bytes, start, end)) return;
    if (this.#phase !== 'body') failH3(h3Error.frameUnexpected, 'data without headers');
    this.#report(false);
    this.#received += end - start;
    this.#checkLength(false);
    this.#owner.onBody(this.id, bytes, start, end, false);
  }

  onFrame(type: number, bytes: Uint8Array, start: number, end: number): void {
    if (type !== h3Frame.headers) failH3(h3Error.frameUnexpected, `a frame of type ${type} in a request`);
    if (this.#hold(type, bytes, start, end)) return;
    if (this.#phase === 'trailers') failH3(h3Error.frameUnexpected, 'headers after trailers');
    const headers = this.#owner.decode(this, bytes, start, end);
    if (headers === undefined) this.#waiting = [];
    else this.#take(headers);
  }

  /** The headers that a block waited for. */
  onBlock(headers: Header[]): void {
    const waiting = this.#waiting ?? [];
    const held = this.#held.splice(0);
    this.#waiting = undefined;
    this.#take(headers);
    for (const { type, bytes } of held) {
      if (this.#waiting !== undefined) this.#held.push({ type, bytes });
      else if (type === h3Frame.data) this.onData(bytes, 0, bytes.length);
      else this.onFrame(type, bytes, 0, bytes.length);
    }
    if (this.#isEnd && this.#waiting === undefined) this.#finish();
    else this.#report(false);
    for (const { bytes, isEnd } of waiting) this.feed(bytes, 0, bytes.length, isEnd);
  }

  readonly #held: { readonly type: number; readonly bytes: Uint8Array }[] = [];

  /** Frames behind a block that waits are kept. */
  #hold(type: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#waiting === undefined) return false;
    this.#held.push({ type, bytes: copyOf(bytes, start, end) });
    return true;
  }

  #take(headers: readonly Header[]): void {
    this.#report(false);
    const kind = this.#phase === 'body' ? 'trailers' : this.#owner.isServer ? 'request' : 'response';
    const problem = messageProblem(headers, kind);
    if (problem !== undefined) throw new H3StreamError(h3Error.message, problem);
    if (kind === 'trailers') {
      this.#phase = 'trailers';
      this.#owner.onTrailers(this.id, headers);
      return;
    }
    const isInterim = !this.#owner.isServer && /^1\d\d$/.test(headers[0]?.[1] ?? '');
    if (isInterim) return;
    this.#phase = 'body';
    if (this.#owner.isServer) this.#contentLength = contentLengthOf(headers);
    this.#headers = headers;
  }

  #report(isEnd: boolean): void {
    const headers = this.#headers;
    if (headers === undefined) return;
    this.#headers = undefined;
    this.#owner.onHeaders(this.id, headers, isEnd);
  }

  #finish(): void {
    if (!this.#reader.isBetweenFrames) failH3(h3Error.frame, 'the stream ends within a frame');
    if (this.#phase === 'headers')
      throw new H3StreamError(h3Error.requestIncomplete, 'the stream ends without headers');
    this.#checkLength(true);
    if (this.#headers === undefined) this.#owner.onBody(this.id, empty, 0, 0, true);
    else this.#report(true);
  }

  #checkLength(isEnd: boolean): void {
    if (this.#contentLength < 0) return;
    if (this.#received > this.#contentLength || (isEnd && this.#received < this.#contentLength))
      throw new H3StreamError(h3Error.message, 'the body has another length than declared');
  }
}
