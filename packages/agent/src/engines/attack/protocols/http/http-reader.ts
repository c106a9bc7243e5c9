/** A received request or response. Header names are lower case, values are trimmed. */
export interface HttpMessage {
  readonly startLine: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** Length on the wire. */
  readonly bytes: number;
}

type Head = Pick<HttpMessage, 'startLine' | 'headers'> & { readonly bytes: number };

const maxHeadBytes = 1024 * 1024;

export const headerIn = ({ headers }: Pick<HttpMessage, 'headers'>, name: string): string | undefined =>
  headers.find(([found]) => found === name)?.[1];

const headEnd = (bytes: Buffer): { end: number; next: number } | undefined => {
  const strict = bytes.indexOf('\r\n\r\n', 0, 'latin1');
  const loose = bytes.indexOf('\n\n', 0, 'latin1');
  if (strict < 0 && loose < 0) return undefined;
  if (strict >= 0 && (loose < 0 || strict < loose)) return { end: strict, next: strict + 4 };
  return { end: loose, next: loose + 2 };
};

const parseHead = (text: string, bytes: number): Head => {
  const [startLine = '', ...lines] = text.split(/\r?\n/);
  const headers = lines.map((line): readonly [string, string] => {
    const colon = line.indexOf(':');
    return colon < 0
      ? [line.toLowerCase(), '']
      : [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { startLine, headers, bytes };
};

/**
 * Incremental, lenient HTTP/1 parser: a device may let anything through.
 * `hasBody`: whether a response may have a body.
 */
export class HttpReader {
  readonly #kind: 'request' | 'answer';
  readonly #hasBody: (startLine: string) => boolean;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #head: Head | undefined;
  #pieces: Buffer[] = [];
  #wireBytes = 0;

  constructor(kind: 'request' | 'answer', hasBody: (startLine: string) => boolean = () => true) {
    this.#kind = kind;
    this.#hasBody = hasBody;
  }

  /** The incomplete message received so far; undefined between messages. */
  get begun(): { readonly head: Head | undefined; readonly bytes: Buffer } | undefined {
    if (this.#head === undefined && this.#waitingBytes === 0) return undefined;
    return { head: this.#head, bytes: Buffer.concat([...this.#pieces, ...this.#waiting]) };
  }

  feed(bytes: Buffer): HttpMessage[] {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    const messages: HttpMessage[] = [];
    for (let message = this.#step(); message !== undefined; message = this.#step()) {
      if (message !== 'again') messages.push(message);
    }
    return messages;
  }

  /** The peer has closed: a response without a length ends here. */
  finish(): HttpMessage | undefined {
    if (this.#head === undefined || this.#kind === 'request' || this.#isChunked() || this.#length() >= 0)
      return undefined;
    this.#pieces.push(this.#takeAll());
    return this.#complete();
  }

  #step(): HttpMessage | 'again' | undefined {
    if (this.#head === undefined) return this.#readHead();
    if (this.#isChunked()) return this.#readChunk();
    const length = this.#bodyLength();
    if (length < 0 || this.#waitingBytes < length) return undefined;
    const all = this.#takeAll();
    this.#pieces.push(all.subarray(0, length));
    this.#putBack(all.subarray(length));
    this.#wireBytes += length;
    return this.#complete();
  }

  #readHead(): 'again' | undefined {
    const all = this.#takeAll();
    const found = headEnd(all);
    if (found === undefined) {
      if (all.length > maxHeadBytes) throw new RangeError('the head is too long');
      this.#putBack(all);
      return undefined;
    }
    const head = parseHead(all.toString('latin1', 0, found.end), found.next);
    this.#putBack(all.subarray(found.next));
    // Skips interim responses and empty lines before a message.
    const isInterim = this.#kind === 'answer' && /^HTTP\/\d(\.\d)? 1\d\d/.test(head.startLine);
    if (isInterim || head.startLine === '') return 'again';
    this.#head = head;
    this.#wireBytes = found.next;
    return 'again';
  }

  #readChunk(): HttpMessage | 'again' | undefined {
    const all = this.#takeAll();
    this.#putBack(all);
    const lineEnd = all.indexOf('\n', 0, 'latin1');
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(all.toString('latin1', 0, lineEnd), 16);
    if (Number.isNaN(size)) throw new RangeError('invalid chunk size');
    const end = lineEnd + 1 + size;
    if (size === 0) {
      const last = all.indexOf('\n', end, 'latin1');
      if (last < 0) return undefined;
      this.#putBack(all.subarray(last + 1));
      this.#wireBytes += last + 1;
      return this.#complete();
    }
    if (all.length < end + 2) return undefined;
    this.#pieces.push(all.subarray(lineEnd + 1, end));
    this.#putBack(all.subarray(end + 2));
    this.#wireBytes += end + 2;
    return 'again';
  }

  #complete(): HttpMessage {
    const { startLine, headers } = this.#head as Head;
    const message = { startLine, headers, body: Buffer.concat(this.#pieces), bytes: this.#wireBytes };
    this.#head = undefined;
    this.#pieces = [];
    return message;
  }

  #isChunked(): boolean {
    return /chunked\s*$/i.test(headerIn(this.#head as Head, 'transfer-encoding') ?? '');
  }

  #length(): number {
    const text = headerIn(this.#head as Head, 'content-length');
    return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : -1;
  }

  /** −1: until the peer closes. */
  #bodyLength(): number {
    const { startLine } = this.#head as Head;
    if (!this.#hasBody(startLine)) return 0;
    const length = this.#length();
    return length < 0 && this.#kind === 'request' ? 0 : length;
  }

  #takeAll(): Buffer {
    const all = this.#waiting.length === 1 ? (this.#waiting[0] as Buffer) : Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    return all;
  }

  #putBack(bytes: Buffer): void {
    if (bytes.length === 0) {
      this.#waiting = [];
      this.#waitingBytes = 0;
      return;
    }
    this.#waiting = [bytes];
    this.#waitingBytes = bytes.length;
  }
}
