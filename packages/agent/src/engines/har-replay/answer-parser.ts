import type { HarHeader } from '@rushhour/protocol';
import { type Framing, type Head, MessageParser, ProtocolError } from '../http/message-parser.ts';
import type { Answer } from './answer.ts';

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;

interface AnswerHead extends Head {
  readonly status: number;
  readonly headers: HarHeader[];
}

/** Reads answers of HTTP/1.1 with all that is said in them. */
export class AnswerParser extends MessageParser<AnswerHead> {
  /** Of the request that is answered next. */
  isHead = false;
  keepsBody = true;
  readonly #onAnswer: (answer: Answer, isKeptAlive: boolean) => void;
  #body: Buffer[] = [];

  constructor(onAnswer: (answer: Answer, isKeptAlive: boolean) => void) {
    super();
    this.#onAnswer = onAnswer;
  }

  protected override startLine(bytes: Buffer, at: number, stop: number): AnswerHead {
    const found = statusLine.exec(bytes.toString('latin1', at, stop));
    if (found === null) throw new ProtocolError('no status line');
    this.#body = [];
    return { status: Number(found[2]), isKeptAlive: found[1] === '1', isChunked: false, length: -1, headers: [] };
  }

  protected override otherHeader(bytes: Buffer, at: number, stop: number): void {
    const line = bytes.toString('latin1', at, stop);
    const colon = line.indexOf(':');
    if (colon > 0) this.head.headers.push({ name: line.slice(0, colon), value: line.slice(colon + 1).trim() });
  }

  protected override framing(): Framing | undefined {
    const { status, isChunked, length } = this.head;
    if (status < 200 && status !== 101) return undefined;
    if (this.isHead || status === 204 || status === 304 || status === 101) return 'none';
    if (isChunked) return 'chunked';
    return length >= 0 ? 'sized' : 'untilClose';
  }

  protected override onBody(bytes: Buffer, start: number, end: number): void {
    if (this.keepsBody) this.#body.push(Buffer.from(bytes.subarray(start, end)));
  }

  protected override onMessage(): void {
    const { status, headers, isKeptAlive } = this.head;
    const answer = { status, headers, body: Buffer.concat(this.#body) };
    this.#body = [];
    this.#onAnswer(answer, isKeptAlive);
  }
}
