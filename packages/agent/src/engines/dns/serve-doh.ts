import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { H2Connection, type H2Events, type Header } from '@rushhour/wire';
import { ConnectionDuplex } from '../../net/transport/connection-duplex.ts';
import type { Chunk, Connection, ConnectionEvents } from '../../net/transport/transport.ts';
import type { Resolver } from './resolver.ts';

/** Names of the protocols of TLS, the preferred one first. */
export const dohProtocols = ['h2', 'http/1.1'];

const mediaType = 'application/dns-message';
const maxBytes = 65_535;
const minBytes = 12;
const status = { badRequest: 400, notFound: 404, wrongMethod: 405, wrongType: 415 } as const;

export interface DohDeps {
  readonly path: string;
  readonly resolver: Resolver;
  readonly onError: (code: string) => void;
}

interface Asked {
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly type: string | undefined;
}

/** The message of a GET, `body` where it follows, or the status that refuses the request. */
const questionIn = ({ method, target = '/', type }: Asked, path: string): Buffer | 'body' | number => {
  const at = target.indexOf('?');
  if ((at < 0 ? target : target.slice(0, at)) !== path) return status.notFound;
  if (method === 'GET') {
    const value = new URLSearchParams(at < 0 ? '' : target.slice(at)).get('dns') ?? '';
    return Buffer.from(value, 'base64url');
  }
  if (method !== 'POST') return status.wrongMethod;
  return type === mediaType ? 'body' : status.wrongType;
};

interface Question {
  parts: Buffer[];
  length: number;
}

/** One connection over HTTP/2. */
export class DohServerConnection implements ConnectionEvents, H2Events {
  readonly #connection: Connection;
  readonly #deps: DohDeps;
  readonly #h2: H2Connection;
  readonly #open = new Map<number, Question>();
  /** One list for each length: the encoder remembers the block of a list. */
  readonly #headers = new Map<number, readonly Header[]>();
  #isGone = false;
  #isReading = false;

  constructor(connection: Connection, deps: DohDeps) {
    this.#connection = connection;
    this.#deps = deps;
    this.#h2 = new H2Connection({ isServer: true, write: (bytes) => connection.writeCopy(bytes) }, this);
    this.#h2.start();
  }

  onOpen(): void {}

  onData({ bytes, start, end }: Chunk): void {
    this.#isReading = true;
    const error = this.#h2.feed(bytes, start, end);
    this.#isReading = false;
    if (error === undefined) return;
    this.#deps.onError('protocol');
    this.#connection.close();
  }

  onHeaders(stream: number, fields: readonly Header[], isEnd: boolean): void {
    const field = (wanted: string) => fields.find(([name]) => name === wanted)?.[1];
    const asked = { method: field(':method'), target: field(':path'), type: field('content-type') };
    const found = questionIn(asked, this.#deps.path);
    if (typeof found === 'number') this.#refuse(stream, found);
    else if (found !== 'body') this.#answer(stream, found);
    else if (isEnd) this.#refuse(stream, status.badRequest);
    else this.#open.set(stream, { parts: [], length: 0 });
  }

  onBody(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void {
    const question = this.#open.get(stream);
    if (question === undefined) return;
    question.length += end - start;
    if (question.length <= maxBytes) question.parts.push(Buffer.from(bytes.subarray(start, end)));
    if (!isEnd) return;
    this.#open.delete(stream);
    if (question.length > maxBytes) this.#refuse(stream, status.badRequest);
    else
      this.#answer(stream, question.parts.length === 1 ? (question.parts[0] as Buffer) : Buffer.concat(question.parts));
  }

  onReset(stream: number): void {
    this.#open.delete(stream);
  }

  onClose(code: string | undefined): void {
    this.#isGone = true;
    if (code !== undefined) this.#deps.onError(code);
  }

  #refuse(stream: number, code: number): void {
    this.#h2.respond(stream, [[':status', String(code)]]);
  }

  #answer(stream: number, message: Buffer): void {
    if (message.length < minBytes) {
      this.#refuse(stream, status.badRequest);
      return;
    }
    this.#deps.resolver.resolve(message, 'stream', (bytes) => {
      if (this.#isGone) return;
      // A copy: what exceeds the window of the client waits.
      this.#h2.respond(stream, this.#headersFor(bytes.length), Buffer.from(bytes));
      if (!this.#isReading) this.#h2.flush();
    });
  }

  #headersFor(length: number): readonly Header[] {
    const known = this.#headers.get(length);
    if (known !== undefined) return known;
    const made: readonly Header[] = [
      [':status', '200'],
      ['content-type', mediaType],
      ['content-length', String(length)],
    ];
    this.#headers.set(length, made);
    return made;
  }
}

const answerHttp1 = ({ path, resolver }: DohDeps) => {
  const answer = (response: ServerResponse, message: Buffer) => {
    if (message.length < minBytes) response.writeHead(status.badRequest).end();
    else
      resolver.resolve(message, 'stream', (bytes) => {
        response.writeHead(200, { 'content-type': mediaType, 'content-length': bytes.length });
        response.end(Buffer.from(bytes));
      });
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    const { method, url, headers } = request;
    const found = questionIn({ method, target: url, type: headers['content-type'] }, path);
    if (typeof found === 'number') response.writeHead(found).end();
    else if (found !== 'body') answer(response, found);
    else {
      const parts: Buffer[] = [];
      let length = 0;
      request.on('data', (bytes: Buffer) => {
        length += bytes.length;
        if (length <= maxBytes) parts.push(bytes);
      });
      request.on('end', () => answer(response, length > maxBytes ? Buffer.alloc(0) : Buffer.concat(parts)));
    }
  };
};

/** DNS over HTTPS (RFC 8484): POST with the message as body, GET with it in `dns`. HTTP/2 or HTTP/1.1. */
export const createDohAcceptor = (deps: DohDeps): ((connection: Connection) => ConnectionEvents) => {
  const older = createServer({ noDelay: false }, answerHttp1(deps));
  older.on('clientError', (_, socket) => {
    deps.onError('protocol');
    socket.destroy();
  });
  return (connection) => {
    if (connection.handshake?.().alpn === 'h2') return new DohServerConnection(connection, deps);
    const duplex = new ConnectionDuplex(connection);
    duplex.on('error', ({ code = 'protocol' }: NodeJS.ErrnoException) => deps.onError(code));
    older.emit('connection', duplex);
    return duplex;
  };
};
