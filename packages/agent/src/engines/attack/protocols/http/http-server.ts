import type { AttackListen, TlsFingerprint } from '@rushhour/protocol';
import type { ServedSocket } from '../../../../net/secure-sockets.ts';
import type { AttackListener, ServerContext, ServerOutcome } from '../../driver.ts';
import { hashOfBytes } from '../../proof.ts';
import { judgeRequest, proofIn } from '../judge-request.ts';
import { arrivedHello, listenConnections, plainIp } from '../listen-connections.ts';
import { type MatchedRequest, RequestMatcher } from '../request-matcher.ts';
import { answerBytes } from './http-answer.ts';
import { writeMessage } from './http-form.ts';
import { type HttpMessage, HttpReader, headerIn } from './http-reader.ts';
import { isHttp2Preface, receiveHttp2 } from './http2-server.ts';

/** Whether the client keeps the connection alive. */
const isKept = (message: HttpMessage): boolean =>
  / HTTP\/1\.1$/i.test(message.startLine) && !/\bclose\b/i.test(headerIn(message, 'connection') ?? '');

const plainAnswer = (status: number, text: string): Buffer =>
  writeMessage({
    startLine: `HTTP/1.1 ${status} ${status === 200 ? 'OK' : 'Not Found'}`,
    headers: [],
    body: Buffer.from(text),
    isChunked: false,
    added: [
      { name: 'Content-Type', value: 'text/plain' },
      { name: 'Connection', value: 'close' },
    ],
  });

/** One connection to our server. */
class HttpServerConnection {
  readonly #socket: ServedSocket;
  readonly #context: ServerContext;
  readonly #requestMatcher: RequestMatcher;
  readonly #reader = new HttpReader('request');
  readonly #ends: Pick<ServerOutcome, 'ip' | 'port' | 'peerIp' | 'peerPort'>;
  #messages = 0;
  readonly #tls: TlsFingerprint | undefined;
  #isReported = false;
  #end: ServerOutcome['end'] = 'none';

  constructor(socket: ServedSocket, requestMatcher: RequestMatcher, context: ServerContext) {
    this.#socket = socket;
    this.#context = context;
    this.#tls = arrivedHello(socket);
    this.#requestMatcher = requestMatcher;
    this.#ends = {
      ip: socket.localAddress ?? '',
      port: socket.localPort ?? 0,
      peerIp: plainIp(socket.remoteAddress),
      peerPort: socket.remotePort ?? 0,
    };
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('end', () => {
      if (this.#end === 'none') this.#end = 'fin';
      socket.end();
    });
    socket.on('error', () => {
      this.#end = 'reset';
    });
    socket.on('close', () => this.report());
  }

  /** Reports an incomplete request, or the connection itself when nothing was received. */
  report(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const { begun } = this.#reader;
    if (begun === undefined && this.#messages > 0) return;
    const known = begun?.head && this.#requestMatcher.find({ ...begun.head, body: Buffer.alloc(0) });
    this.#record(known, {
      seen: begun === undefined ? 'connected' : 'partial',
      rxBytes: begun?.bytes.length ?? 0,
      rxSha256: hashOfBytes(begun?.bytes ?? Buffer.alloc(0)),
      sentBytes: 0,
      sentSha256: '',
      end: this.#end,
    });
  }

  #take(bytes: Buffer): void {
    if (this.#messages === 0 && this.#reader.begun === undefined && isHttp2Preface(bytes)) {
      this.#handOver(bytes);
      return;
    }
    try {
      for (const message of this.#reader.feed(bytes)) this.#answer(message);
    } catch {
      this.#socket.end(plainAnswer(404, 'malformed request\n'));
    }
  }

  /** Hands connections that start with the HTTP/2 preface to the HTTP/2 server. */
  #handOver(bytes: Buffer): void {
    this.#isReported = true;
    this.#socket.removeAllListeners('data').removeAllListeners('end').pause();
    this.#socket.unshift(bytes);
    receiveHttp2(this.#socket, { requestMatcher: this.#requestMatcher, context: this.#context, ends: this.#ends });
  }

  #answer(message: HttpMessage): void {
    this.#messages += 1;
    const proof = proofIn(message, this.#context);
    if (proof !== undefined) {
      this.#socket.end(plainAnswer(200, proof));
      return;
    }
    const known = this.#requestMatcher.find(message);
    if (known === undefined) {
      const outcome = { seen: 'modified' as const, rxBytes: message.bytes, rxSha256: hashOfBytes(message.body) };
      this.#record(undefined, { ...outcome, sentBytes: 0, sentSha256: '', end: 'none' });
      this.#socket.end(plainAnswer(404, 'unknown request\n'));
      return;
    }
    this.#answerKnown(message, known);
  }

  #answerKnown(message: HttpMessage, known: MatchedRequest): void {
    const { seen, noted, rxSha256, answer, asked } = judgeRequest(message, known, this.#context);
    const reply = answerBytes(answer, asked);
    const isSilent = answer.mode === 'silent';
    this.#record(known, {
      seen,
      ...noted,
      rxBytes: message.bytes,
      rxSha256,
      sentBytes: isSilent ? 0 : reply.bytes.length,
      sentSha256: isSilent ? '' : reply.hash,
      end: 'none',
    });
    if (isSilent) return;
    if (reply.isLast || !isKept(message)) this.#socket.end(reply.bytes);
    else this.#socket.write(reply.bytes);
  }

  #record(
    known: MatchedRequest | undefined,
    outcome: Pick<ServerOutcome, 'seen' | 'rxBytes' | 'rxSha256' | 'sentBytes' | 'sentSha256' | 'end' | 'changes'>,
  ): void {
    this.#context.record({
      attempt: known?.attempt.id ?? null,
      step: known?.step ?? 0,
      correlation: known?.correlation ?? 'none',
      ...(known?.isBare && { isBare: true }),
      ...this.#ends,
      ...(this.#tls !== undefined && { tls: this.#tls }),
      ...outcome,
      atMs: this.#context.elapsedMs(),
    });
  }
}

export const listenHttp = (endpoint: AttackListen, context: ServerContext): Promise<AttackListener> => {
  const requestMatcher = new RequestMatcher(endpoint.service, context);
  const receive = (socket: ServedSocket) => new HttpServerConnection(socket, requestMatcher, context);
  // A peer that offers both versions gets HTTP/1.1.
  const { alpn } = context.tls;
  return listenConnections(endpoint, context, receive, alpn.length > 0 ? alpn : ['http/1.1', 'h2']);
};
