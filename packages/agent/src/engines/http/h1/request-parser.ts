import { type Framing, type Head, headerValue, isNamed, MessageParser, ProtocolError } from './message-parser.ts';

export interface RequestEvents {
  /** The client waits for 100 Continue. */
  onContinue(): void;
  onRequest(isHead: boolean, isKeptAlive: boolean): void;
}

const versionText = ' HTTP/1.';

/** ` HTTP/1.0` or ` HTTP/1.1`. */
const isVersion = (bytes: Buffer, at: number): boolean => {
  for (let i = 0; i < versionText.length; i++) if (bytes[at + i] !== versionText.charCodeAt(i)) return false;
  return bytes[at + 8] === 48 || bytes[at + 8] === 49;
};

export interface RequestHead extends Head {
  readonly isHead: boolean;
  expectsContinue: boolean;
}

export class RequestParser extends MessageParser<RequestHead> {
  readonly #events: RequestEvents;

  constructor(events: RequestEvents) {
    super();
    this.#events = events;
  }

  protected override startLine(bytes: Buffer, at: number, stop: number): RequestHead {
    if (stop - at < 12 || !isVersion(bytes, stop - 9)) throw new ProtocolError('no request line');
    const isHead = bytes[at] === 0x48 && bytes[at + 3] === 0x44 && bytes[at + 4] === 0x20;
    const isKeptAlive = bytes[stop - 1] === 49;
    return { isKeptAlive, isChunked: false, length: -1, isHead, expectsContinue: false };
  }

  protected override otherHeader(bytes: Buffer, at: number, stop: number): void {
    if (((bytes[at] as number) | 0x20) !== 0x65 || !isNamed(bytes, at, 'expect')) return;
    this.head.expectsContinue = headerValue(bytes, at + 6, stop).toLowerCase() === '100-continue';
  }

  protected override framing(): Framing {
    const { expectsContinue, isChunked, length } = this.head;
    if (expectsContinue) this.#events.onContinue();
    if (isChunked) return 'chunked';
    return length > 0 ? 'sized' : 'none';
  }

  protected override onBody(): void {}

  protected override onMessage(): void {
    this.#events.onRequest(this.head.isHead, this.head.isKeptAlive);
  }
}
