import { KnownHead } from './known-head.ts';

export class ProtocolError extends Error {}

const state = { head: 0, sized: 1, chunkSize: 2, chunk: 3, chunkEnd: 4, trailer: 5, untilClose: 6 } as const;
const maxHeadBytes = 65_536;
const [cr, lf, space, colon] = [13, 10, 32, 58];

/** How the end of the body is determined. */
export type Framing = 'none' | 'sized' | 'chunked' | 'untilClose';

/** Framing information from the head of a message. */
export interface Head {
  isKeptAlive: boolean;
  isChunked: boolean;
  /** −1 without Content-Length. */
  length: number;
}

/** Incremental HTTP/1.1 parser. Reads only what a load generator needs. */
export abstract class MessageParser<H extends Head> {
  /** Head of the current message; identical heads share one object. */
  protected head!: H;
  #state: number = state.head;
  /** Start of an incomplete head or line. */
  #pending: Buffer | undefined;
  #left = 0;
  readonly #own = new KnownHead<H>();
  #known = this.#own;

  /** Parses the start line. Throws when it is invalid. */
  protected abstract startLine(bytes: Buffer, at: number, stop: number): H;
  /** Called for headers that are not needed for framing. */
  protected abstract otherHeader(bytes: Buffer, at: number, stop: number): void;
  /** Called after the head. Undefined: an interim response, another head follows. */
  protected abstract framing(): Framing | undefined;
  protected abstract onBody(bytes: Buffer, start: number, end: number): void;
  protected abstract onMessage(): void;

  /** True between two messages. */
  get isIdle(): boolean {
    return this.#state === state.head && this.#pending === undefined;
  }

  feed(chunk: Buffer, start: number, stop: number): void {
    let bytes = chunk;
    let at = start;
    let end = stop;
    if (this.#pending !== undefined) {
      bytes = Buffer.concat([this.#pending, chunk.subarray(start, stop)]);
      at = 0;
      end = bytes.length;
      this.#pending = undefined;
    }
    while (at < end) {
      const next = this.#step(bytes, at, end);
      if (next < 0) {
        if (end - at > maxHeadBytes) throw new ProtocolError('a head or line has no end');
        this.#pending = Buffer.from(bytes.subarray(at, end));
        return;
      }
      at = next;
    }
  }

  /** Prepares for another stream that shares a head cache. */
  reset(known: KnownHead<H>): void {
    this.#known = known;
    this.#state = state.head;
    this.#pending = undefined;
  }

  /** The peer has closed. True when this completes a message or none was started. */
  finish(): boolean {
    if (this.#state !== state.untilClose) return this.isIdle;
    this.head = { ...this.head, isKeptAlive: false };
    this.#complete();
    return true;
  }

  /** Consumes one element and returns the offset of the next, or −1 when it is incomplete. */
  #step(bytes: Buffer, at: number, end: number): number {
    switch (this.#state) {
      case state.head:
        return this.#head(bytes, at, end);
      case state.sized:
      case state.chunk:
        return this.#body(bytes, at, end);
      case state.untilClose:
        this.onBody(bytes, at, end);
        return end;
      default:
        return this.#line(bytes, at, end);
    }
  }

  #head(bytes: Buffer, start: number, end: number): number {
    if (this.#known.isAt(bytes, start, end)) {
      this.head = this.#known.head;
      this.#beginBody();
      return start + this.#known.length;
    }
    // Heads may differ between streams but repeat within one: fall back to a cache of this stream.
    if (this.#known.isGivenUp) this.#known = this.#own;
    let at = start;
    let isFirst = true;
    for (;;) {
      let newline = at;
      while (newline < end && bytes[newline] !== lf) newline++;
      if (newline === end) return -1;
      const stop = newline > at && bytes[newline - 1] === cr ? newline - 1 : newline;
      if (stop === at) {
        // RFC 9112 2.2: an empty line before a message is ignored.
        if (!isFirst) {
          this.#known.remember(bytes, { start, end: newline + 1, head: this.head });
          this.#beginBody();
        }
        return newline + 1;
      }
      if (isFirst) {
        this.head = this.startLine(bytes, at, stop);
        isFirst = false;
      } else this.#header(bytes, at, stop);
      at = newline + 1;
    }
  }

  #header(bytes: Buffer, at: number, stop: number): void {
    // Upper and lower case differ in one bit.
    const first = (bytes[at] as number) | 0x20;
    if (first === 0x63 && isNamed(bytes, at, 'content-length')) this.#setLength(bytes, at + 15, stop);
    else if (first === 0x63 && isNamed(bytes, at, 'connection')) this.#setConnection(bytes, at + 10, stop);
    else if (first === 0x74 && isNamed(bytes, at, 'transfer-encoding')) {
      this.head.isChunked = /chunked\s*$/i.test(headerValue(bytes, at + 17, stop));
    } else this.otherHeader(bytes, at, stop);
  }

  #setLength(bytes: Buffer, start: number, stop: number): void {
    let at = start;
    while (bytes[at] === space) at++;
    let length = at === stop ? Number.NaN : 0;
    for (; at < stop && bytes[at] !== space; at++) {
      const digit = (bytes[at] as number) - 48;
      length = digit >= 0 && digit <= 9 ? length * 10 + digit : Number.NaN;
    }
    if (!Number.isSafeInteger(length)) throw new ProtocolError('bad Content-Length');
    const { head } = this;
    if (head.length >= 0 && head.length !== length) throw new ProtocolError('two different Content-Lengths');
    head.length = length;
  }

  #setConnection(bytes: Buffer, nameEnd: number, stop: number): void {
    // The common spelling is compared byte by byte: creating a string would cost as much as the rest of the head.
    if (bytes[nameEnd + 1] === space) {
      const at = nameEnd + 2;
      if (stop - at === 10 && isText(bytes, at, 'keep-alive')) {
        this.head.isKeptAlive = true;
        return;
      }
      if (stop - at === 5 && isText(bytes, at, 'close')) {
        this.head.isKeptAlive = false;
        return;
      }
    }
    const value = headerValue(bytes, nameEnd, stop);
    if (/\bclose\b/i.test(value)) this.head.isKeptAlive = false;
    else if (/\bkeep-alive\b/i.test(value)) this.head.isKeptAlive = true;
  }

  #beginBody(): void {
    const framing = this.framing();
    if (framing === undefined) return;
    if (framing === 'chunked') this.#state = state.chunkSize;
    else if (framing === 'untilClose') this.#state = state.untilClose;
    else if (framing === 'sized' && this.head.length > 0) {
      this.#left = this.head.length;
      this.#state = state.sized;
    } else this.#complete();
  }

  #body(bytes: Buffer, at: number, end: number): number {
    const stop = Math.min(end, at + this.#left);
    this.#left -= stop - at;
    this.onBody(bytes, at, stop);
    if (this.#left === 0) {
      if (this.#state === state.chunk) this.#state = state.chunkEnd;
      else this.#complete();
    }
    return stop;
  }

  #line(bytes: Buffer, at: number, end: number): number {
    const newline = bytes.indexOf(lf, at);
    if (newline < 0 || newline >= end) return -1;
    const stop = newline > at && bytes[newline - 1] === cr ? newline - 1 : newline;
    if (this.#state === state.chunkSize) this.#chunkSize(bytes.toString('latin1', at, stop));
    else if (this.#state === state.chunkEnd) {
      if (stop !== at) throw new ProtocolError('a chunk is longer than it says');
      this.#state = state.chunkSize;
    } else if (stop === at) this.#complete();
    return newline + 1;
  }

  #chunkSize(line: string): void {
    const size = /^([0-9a-fA-F]{1,12})[ \t]*(;.*)?$/.exec(line)?.[1];
    if (size === undefined) throw new ProtocolError('bad chunk size');
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? state.trailer : state.chunk;
  }

  #complete(): void {
    this.#state = state.head;
    this.onMessage();
  }
}

/** Whether the header at `at` has this name, given in lower case. */
export const isNamed = (bytes: Buffer, at: number, name: string): boolean => {
  if (bytes[at + name.length] !== colon) return false;
  return isText(bytes, at, name);
};

const isText = (bytes: Buffer, at: number, text: string): boolean => {
  for (let i = 1; i < text.length; i++) {
    if (((bytes[at + i] as number) | 0x20) !== text.charCodeAt(i)) return false;
  }
  return ((bytes[at] as number) | 0x20) === text.charCodeAt(0);
};

export const headerValue = (bytes: Buffer, nameEnd: number, stop: number): string =>
  bytes.toString('latin1', nameEnd + 1, stop).trim();
