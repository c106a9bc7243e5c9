import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import type { HarHeader } from '@rushhour/protocol';
import { sendable } from '@rushhour/wire';
import { errorCodeOf } from '../../../net/metrics/count-error.ts';
import type { Answer, Request } from '../server/answer.ts';
import { type ByteMeter, ConnectionError, type HttpConnection } from './http-connection.ts';

const headersOf = (headers: IncomingHttpHeaders): HarHeader[] =>
  Object.entries(headers)
    .filter(([name]) => !name.startsWith(':'))
    .flatMap(([name, value]) => [value ?? []].flat().map((one) => ({ name, value: String(one) })));

const wireOf = ({ method, path, authority, scheme, headers, body }: Request): Record<string, string | string[]> => {
  const wire: Record<string, string | string[]> = {
    ':method': method,
    ':path': path,
    ':authority': authority,
    ':scheme': scheme,
  };
  for (const { name, value } of headers) {
    const [key, text] = sendable(name, value) ?? [];
    if (key === undefined || text === undefined) continue;
    const before = wire[key];
    wire[key] = before === undefined ? text : [...[before].flat(), text];
  }
  if (body !== undefined) wire['content-length'] = String(body.length);
  return wire;
};

const headerErrors =
  /^ERR_(HTTP2_(HEADER|INVALID_(CONNECTION_HEADERS|HEADER_VALUE|PSEUDOHEADER))|INVALID_(CHAR|HTTP_TOKEN))/;

/** HTTP/2: any number of concurrent requests; the session queues streams above the limit of the peer. */
export class H2Connection implements HttpConnection {
  readonly isShared = true;
  answered = 0;
  readonly #session: ClientHttp2Session;
  readonly #meter: ByteMeter;
  #failure = 'closed';

  constructor(socket: Duplex, meter: ByteMeter) {
    this.#meter = meter;
    this.#session = connect('http://replay.invalid', { createConnection: () => socket });
    this.#session.on('error', (error) => {
      this.#failure = errorCodeOf(error);
    });
    this.#session.on('close', () => this.#meter.look());
  }

  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  get hasRoom(): boolean {
    return this.isOpen;
  }

  reserve(): void {}

  async exchange(request: Request, timeoutMs: number): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const stream = this.#begin(request);
    if (stream === undefined) throw new ConnectionError(this.#failure);
    let failure: string | undefined;
    let status = 0;
    let headers: HarHeader[] = [];
    const body: Buffer[] = [];
    const timer = setTimeout(() => {
      failure = 'timeout';
      stream.close(constants.NGHTTP2_CANCEL);
    }, timeoutMs);
    stream.on('response', (fields) => {
      status = fields[':status'] ?? 0;
      headers = headersOf(fields);
    });
    stream.on('data', (bytes: Buffer) => {
      if (request.keepsBody) body.push(bytes);
    });
    stream.on('error', (error) => {
      failure ??= errorCodeOf(error);
    });
    stream.on('close', () => {
      clearTimeout(timer);
      this.#meter.look();
      const isWhole = failure === undefined && status > 0 && stream.rstCode === constants.NGHTTP2_NO_ERROR;
      if (!isWhole) {
        reject(new ConnectionError(failure ?? (this.isOpen ? 'reset' : this.#failure)));
        return;
      }
      this.answered++;
      resolve({ status, headers, body: Buffer.concat(body) });
    });
    return promise;
  }

  /** Undefined when the session accepts no more streams; a request that HTTP/2 cannot carry fails alone. */
  #begin(request: Request): ClientHttp2Stream | undefined {
    if (!this.isOpen) return undefined;
    try {
      const stream = this.#session.request(wireOf(request), { endStream: request.body === undefined });
      if (request.body !== undefined) stream.end(request.body);
      return stream;
    } catch (error) {
      const code = errorCodeOf(error as Error);
      if (headerErrors.test(code)) throw new ConnectionError('header');
      this.#failure = code;
      this.#session.close();
      return undefined;
    }
  }

  close(): void {
    this.#session.close();
    // Streams without a waiter would keep the session open.
    setImmediate(() => this.#session.destroy());
  }
}
