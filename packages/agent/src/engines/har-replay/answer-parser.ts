import type { HarHeader } from '@rushhour/protocol';
import { type Framing, MessageParser, ProtocolError } from '../http/message-parser.ts';
import type { Answer } from './answer.ts';

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;

/** Reads answers of HTTP/1.1 with all that is said in them. */
export class AnswerParser extends MessageParser {
  /** Of the request that is answered next. */
  isHead = false;
  keepsBody = true;
  readonly #onAnswer: (answer: Answer, isKeptAlive: boolean) => void;
  #status = 0;
  #headers: HarHeader[] = [];
  #body: Buffer[] = [];

  constructor(onAnswer: (answer: Answer, isKeptAlive: boolean) => void) {
    super();
    this.#onAnswer = onAnswer;
  }

  protected override startLine(bytes: Buffer, at: number, stop: number): void {
    const found = statusLine.exec(bytes.toString('latin1', at, stop));
    if (found === null) throw new ProtocolError('no status line');
    this.#status = Number(found[2]);
    this.isKeptAlive = found[1] === '1';
    this.#headers = [];
    this.#body = [];
  }

  protected override otherHeader(bytes: Buffer, at: number, stop: number): void {
    const line = bytes.toString('latin1', at, stop);
    const colon = line.indexOf(':');
    if (colon > 0) this.#headers.push({ name: line.slice(0, colon), value: line.slice(colon + 1).trim() });
  }

  protected override framing(): Framing | undefined {
    const status = this.#status;
    if (status < 200 && status !== 101) return undefined;
    if (this.isHead || status === 204 || status === 304 || status === 101) return 'none';
    if (this.isChunked) return 'chunked';
    return this.length >= 0 ? 'sized' : 'untilClose';
  }

  protected override onBody(bytes: Buffer, start: number, end: number): void {
    if (this.keepsBody) this.#body.push(Buffer.from(bytes.subarray(start, end)));
  }

  protected override onMessage(): void {
    const answer = { status: this.#status, headers: this.#headers, body: Buffer.concat(this.#body) };
    this.#body = [];
    this.#onAnswer(answer, this.isKeptAlive);
  }
}
