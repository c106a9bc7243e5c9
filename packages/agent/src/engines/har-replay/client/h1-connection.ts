import type { Duplex } from 'node:stream';
import type { HarHeader } from '@rushhour/protocol';
import { errorCodeOf } from '../../../net/metrics/count-error.ts';
import { closeWhenWritten } from '../../../net/transport/connection-duplex.ts';
import { type Framing, type Head, MessageParser, ProtocolError } from '../../http/h1/message-parser.ts';
import type { Answer, Request } from '../server/answer.ts';
import { type ByteMeter, ConnectionError, type HttpConnection } from './http-connection.ts';

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;

interface AnswerHead extends Head {
  readonly status: number;
  readonly headers: HarHeader[];
}

/** Parses HTTP/1.1 responses with all headers and the body. */
class AnswerParser extends MessageParser<AnswerHead> {
  /** Whether the pending request is HEAD. */
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

const methodsWithLength = new Set(['POST', 'PUT', 'PATCH']);

const wireOf = ({ method, path, authority, headers, body }: Request): Buffer => {
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${authority}`];
  for (const { name, value } of headers) lines.push(`${name}: ${value}`);
  if (body !== undefined || methodsWithLength.has(method)) lines.push(`Content-Length: ${body?.length ?? 0}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return body === undefined ? head : Buffer.concat([head, body]);
};

interface InFlight {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** HTTP/1.1: one request at a time. */
export class H1Connection implements HttpConnection {
  readonly isShared = false;
  answered = 0;
  isOpen = true;
  readonly #socket: Duplex;
  readonly #meter: ByteMeter;
  readonly #parser: AnswerParser;
  #isTaken = false;
  #inFlight: InFlight | undefined;
  #failure = 'closed';

  constructor(socket: Duplex, meter: ByteMeter) {
    this.#socket = socket;
    this.#meter = meter;
    this.#parser = new AnswerParser((answer, isKeptAlive) => this.#onAnswer(answer, isKeptAlive));
    socket.on('data', (bytes: Buffer) => this.#onData(bytes));
    socket.on('error', (error) => {
      this.#failure = errorCodeOf(error);
    });
    socket.on('end', () => socket.end());
    socket.on('close', () => this.#onClose());
  }

  get hasRoom(): boolean {
    return this.isOpen && !this.#isTaken;
  }

  reserve(): void {
    this.#isTaken = true;
  }

  exchange(request: Request, timeoutMs: number): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    if (!this.isOpen) return Promise.reject(new ConnectionError('closed'));
    this.#parser.isHead = request.method === 'HEAD';
    this.#parser.keepsBody = request.keepsBody;
    const timer = setTimeout(() => this.#fail('timeout'), timeoutMs);
    this.#inFlight = { resolve, reject, timer };
    this.#socket.write(wireOf(request));
    return promise;
  }

  close(): void {
    this.isOpen = false;
    closeWhenWritten(this.#socket);
  }

  #onData(bytes: Buffer): void {
    try {
      this.#parser.feed(bytes, 0, bytes.length);
    } catch {
      this.#fail('protocol');
    }
  }

  #onAnswer(answer: Answer, isKeptAlive: boolean): void {
    const asked = this.#inFlight;
    this.#meter.look();
    if (asked === undefined) {
      this.#fail('protocol');
      return;
    }
    clearTimeout(asked.timer);
    this.#inFlight = undefined;
    this.#isTaken = false;
    this.answered++;
    if (!isKeptAlive) this.close();
    asked.resolve(answer);
  }

  #onClose(): void {
    this.isOpen = false;
    // A response without a length ends at the close.
    this.#parser.finish();
    this.#meter.look();
    if (this.#inFlight === undefined) return;
    clearTimeout(this.#inFlight.timer);
    this.#inFlight.reject(new ConnectionError(this.#failure));
    this.#inFlight = undefined;
  }

  #fail(code: string): void {
    this.#failure = code;
    this.isOpen = false;
    this.#socket.destroy();
  }
}
