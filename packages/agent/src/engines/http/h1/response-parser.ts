import { type Framing, type Head, headerValue, isNamed, MessageParser, ProtocolError } from './message-parser.ts';

/** Events of the response parser. */
export interface ResponseEvents {
  /** A part of the body without chunk framing; valid only during the call. */
  onBody(bytes: Buffer, start: number, end: number): void;
  /** A response is complete. `location` is set only when the parser looks for it. */
  onResponse(status: number, isKeptAlive: boolean, location: string | undefined): void;
}

export interface ParserOptions {
  /** Responses to HEAD have no body, whatever Content-Length says. */
  readonly isHead: boolean;
  readonly findsLocation: boolean;
  /** Keeps all headers, for `fields`. */
  readonly keepsFields?: boolean;
}

export interface ResponseField {
  readonly name: string;
  readonly value: string;
}

export interface ResponseHead extends Head {
  readonly status: number;
  location: string | undefined;
  fields: ResponseField[] | undefined;
}

export class ResponseParser extends MessageParser<ResponseHead> {
  readonly #events: ResponseEvents;
  readonly #options: ParserOptions;

  constructor(events: ResponseEvents, options: ParserOptions) {
    super();
    this.#events = events;
    this.#options = options;
  }

  /** Headers of the response, without those that frame it. */
  get fields(): readonly ResponseField[] {
    return this.head.fields ?? [];
  }

  protected override startLine(bytes: Buffer, at: number, stop: number): ResponseHead {
    // HTTP/1.x NNN
    if (stop - at < 12 || bytes[at] !== 0x48 || bytes[at + 4] !== 0x2f || bytes[at + 8] !== 0x20) {
      throw new ProtocolError('no status line');
    }
    const hundreds = (bytes[at + 9] as number) - 48;
    const tens = (bytes[at + 10] as number) - 48;
    const ones = (bytes[at + 11] as number) - 48;
    if (hundreds < 1 || hundreds > 9 || tens < 0 || tens > 9 || ones < 0 || ones > 9)
      throw new ProtocolError('no status');
    const status = hundreds * 100 + tens * 10 + ones;
    return {
      status,
      isKeptAlive: bytes[at + 7] !== 48,
      isChunked: false,
      length: -1,
      location: undefined,
      fields: undefined,
    };
  }

  protected override otherHeader(bytes: Buffer, at: number, stop: number): void {
    if (this.#options.keepsFields === true) this.#keepField(bytes, at, stop);
    if (!this.#options.findsLocation || ((bytes[at] as number) | 0x20) !== 0x6c) return;
    if (isNamed(bytes, at, 'location')) this.head.location = headerValue(bytes, at + 8, stop);
  }

  #keepField(bytes: Buffer, at: number, stop: number): void {
    const colon = bytes.indexOf(0x3a, at);
    if (colon < 0 || colon >= stop) return;
    const name = bytes.toString('latin1', at, colon).trim().toLowerCase();
    this.head.fields ??= [];
    this.head.fields.push({ name, value: headerValue(bytes, colon, stop) });
  }

  protected override framing(): Framing | undefined {
    const { status, isChunked, length } = this.head;
    if (status < 200 && status !== 101) return undefined;
    if (this.#options.isHead || status === 204 || status === 304 || status === 101) return 'none';
    if (isChunked) return 'chunked';
    return length >= 0 ? 'sized' : 'untilClose';
  }

  protected override onBody(bytes: Buffer, start: number, end: number): void {
    this.#events.onBody(bytes, start, end);
  }

  protected override onMessage(): void {
    const { status, isKeptAlive, location } = this.head;
    this.#events.onResponse(status, isKeptAlive, location);
  }
}
