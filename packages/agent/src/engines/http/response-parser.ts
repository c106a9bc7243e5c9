/** What a parser tells about the answers it finds in a stream of bytes. */
export interface ResponseEvents {
  /** Part of a body, without the framing of chunks; valid during this call only. */
  onBody(bytes: Buffer, start: number, end: number): void;
  /** An answer is complete. `location` is there only for parsers that look for it. */
  onResponse(status: number, isKeptAlive: boolean, location: string | undefined): void;
}

export interface ParserOptions {
  /** Answers to HEAD have no body whatever their header says. */
  readonly isHead: boolean;
  readonly findsLocation: boolean;
}

export class ProtocolError extends Error {}

const state = { head: 0, sized: 1, chunkSize: 2, chunk: 3, chunkEnd: 4, trailer: 5, untilClose: 6 } as const;
const maxHeadBytes = 65_536;
const [cr, lf, space, colon] = [13, 10, 32, 58];

/** Reads HTTP/1.1 answers from bytes that arrive in any pieces. Only what a load generator needs is looked at. */
export class ResponseParser {
  readonly #events: ResponseEvents;
  readonly #options: ParserOptions;
  #state: number = state.head;
  /** The beginning of a head or a line whose end has not arrived. */
  #pending: Buffer | undefined;
  #left = 0;
  #status = 0;
  #isKeptAlive = true;
  #isChunked = false;
  #length = -1;
  #location: string | undefined;

  constructor(events: ResponseEvents, options: ParserOptions) {
    this.#events = events;
    this.#options = options;
  }

  /** True between two answers. */
  get isIdle(): boolean {
    return this.#state === state.head && this.#pending === undefined;
  }

  feed(chunk: Buffer, length: number): void {
    let bytes = chunk;
    let end = length;
    if (this.#pending !== undefined) {
      bytes = Buffer.concat([this.#pending, chunk.subarray(0, length)]);
      end = bytes.length;
      this.#pending = undefined;
    }
    let at = 0;
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

  /** The peer closed. True when that completed an answer or found none begun. */
  finish(): boolean {
    if (this.#state === state.untilClose) {
      this.#isKeptAlive = false;
      this.#complete();
      return true;
    }
    return this.isIdle;
  }

  /** Consumes one element and says where the next begins, or −1 when its end has not arrived. */
  #step(bytes: Buffer, at: number, end: number): number {
    switch (this.#state) {
      case state.head:
        return this.#head(bytes, at, end);
      case state.sized:
      case state.chunk:
        return this.#body(bytes, at, end);
      case state.untilClose:
        this.#events.onBody(bytes, at, end);
        return end;
      default:
        return this.#line(bytes, at, end);
    }
  }

  #head(bytes: Buffer, start: number, end: number): number {
    let at = start;
    let isFirst = true;
    for (;;) {
      const newline = bytes.indexOf(lf, at);
      if (newline < 0 || newline >= end) return -1;
      const stop = newline > at && bytes[newline - 1] === cr ? newline - 1 : newline;
      if (stop === at && !isFirst) {
        this.#beginBody();
        return newline + 1;
      }
      if (isFirst) this.#statusLine(bytes, at, stop);
      else this.#header(bytes, at, stop);
      isFirst = false;
      at = newline + 1;
    }
  }

  #statusLine(bytes: Buffer, at: number, stop: number): void {
    // HTTP/1.x NNN
    if (stop - at < 12 || bytes[at] !== 0x48 || bytes[at + 4] !== 0x2f || bytes[at + 8] !== space) {
      throw new ProtocolError('no status line');
    }
    const [a = 0, b = 0, c = 0] = [bytes[at + 9], bytes[at + 10], bytes[at + 11]];
    const status = (a - 48) * 100 + (b - 48) * 10 + (c - 48);
    if (!(status >= 100 && status <= 999)) throw new ProtocolError('no status');
    this.#status = status;
    this.#isKeptAlive = bytes[at + 7] !== 48;
    this.#isChunked = false;
    this.#length = -1;
    this.#location = undefined;
  }

  #header(bytes: Buffer, at: number, stop: number): void {
    // Upper and lower case differ in one bit.
    const first = (bytes[at] as number) | 0x20;
    if (first === 0x63) {
      if (isNamed(bytes, at, 'content-length')) this.#setLength(headerValue(bytes, at + 14, stop));
      else if (isNamed(bytes, at, 'connection')) this.#setConnection(headerValue(bytes, at + 10, stop));
    } else if (first === 0x74) {
      if (isNamed(bytes, at, 'transfer-encoding'))
        this.#isChunked = /chunked\s*$/i.test(headerValue(bytes, at + 17, stop));
    } else if (first === 0x6c && this.#options.findsLocation && isNamed(bytes, at, 'location')) {
      this.#location = headerValue(bytes, at + 8, stop);
    }
  }

  #setLength(value: string): void {
    if (!/^\d{1,15}$/.test(value)) throw new ProtocolError('bad Content-Length');
    const length = Number(value);
    if (this.#length >= 0 && this.#length !== length) throw new ProtocolError('two different Content-Lengths');
    this.#length = length;
  }

  #setConnection(value: string): void {
    if (/\bclose\b/i.test(value)) this.#isKeptAlive = false;
    else if (/\bkeep-alive\b/i.test(value)) this.#isKeptAlive = true;
  }

  #beginBody(): void {
    const status = this.#status;
    if (status >= 100 && status < 200 && status !== 101) return;
    if (this.#options.isHead || status === 204 || status === 304 || status === 101) this.#complete();
    else if (this.#isChunked) this.#state = state.chunkSize;
    else if (this.#length > 0) {
      this.#left = this.#length;
      this.#state = state.sized;
    } else if (this.#length === 0) this.#complete();
    else this.#state = state.untilClose;
  }

  #body(bytes: Buffer, at: number, end: number): number {
    const stop = Math.min(end, at + this.#left);
    this.#left -= stop - at;
    this.#events.onBody(bytes, at, stop);
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
    this.#events.onResponse(this.#status, this.#isKeptAlive, this.#location);
  }
}

const isNamed = (bytes: Buffer, at: number, name: string): boolean => {
  if (bytes[at + name.length] !== colon) return false;
  for (let i = 1; i < name.length; i++) {
    if (((bytes[at + i] as number) | 0x20) !== name.charCodeAt(i)) return false;
  }
  return true;
};

const headerValue = (bytes: Buffer, nameEnd: number, stop: number): string =>
  bytes.toString('latin1', nameEnd + 1, stop).trim();
