import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  status: number;
  headers: Map<string, string>;
  body: string;
}

interface Waiting {
  resolve(answer: RawAnswer): void;
  reject(error: Error): void;
  isHead: boolean;
}

const timeoutMs = 60_000;

/** Writes HTTP/1.1 itself on one kept connection, so that a request may be any bytes. */
export class RawClient {
  readonly #host: string;
  readonly #port: number;
  #socket: Socket | undefined;
  #waiting: Waiting | undefined;
  #received: Buffer = Buffer.alloc(0);

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
  }

  send(request: Buffer, isHead = false): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.close();
        this.#settle(new Error('no answer in time'));
      }, timeoutMs);
      const done =
        <T>(call: (value: T) => void) =>
        (value: T) => {
          clearTimeout(timer);
          call(value);
        };
      this.#waiting = { resolve: done(resolve), reject: done(reject), isHead };
      this.#socket ??= this.#open();
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
    this.#received = Buffer.alloc(0);
  }

  #settle(answer: RawAnswer | Error) {
    const { resolve, reject } = this.#waiting ?? {};
    this.#waiting = undefined;
    if (answer instanceof Error) reject?.(answer);
    else resolve?.(answer);
  }

  #open() {
    const opened = connect(this.#port, this.#host);
    opened.setNoDelay(true).on('data', (chunk: Buffer) => this.#take(chunk));
    const fail = (error: Error) => {
      if (opened !== this.#socket) return;
      this.close();
      this.#settle(error);
    };
    opened.on('error', fail).on('close', () => fail(new Error('closed without an answer')));
    return opened;
  }

  #take(chunk: Buffer) {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const answer = parse(this.#received, this.#waiting?.isHead ?? false);
    if (answer === undefined) return;
    this.#received = this.#received.subarray(answer.length);
    const isOver = answer.headers.get('connection') === 'close' || answer.isStream || this.#received.length > 0;
    if (isOver) this.close();
    this.#settle(answer);
  }
}

const parse = (bytes: Buffer, isHead: boolean) => {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(first.split(' ')[1]);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  if (status === 100) return undefined;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const size = isHead || isStream ? 0 : Number(headers.get('content-length') ?? 0);
  const length = end + 4 + size;
  if (!isStream && bytes.length < length) return undefined;
  return { status, headers, body: bytes.subarray(end + 4, length).toString(), length, isStream };
};
