import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { AttackListen } from '@rushhour/protocol';
import { closeServers, listenAll } from '../../../net/transport/listen-all.ts';
import type { AttackListener, ServerScene, ServerSight } from '../driver.ts';
import { hashOfBytes, proofOf } from '../proof.ts';
import { answerBytes } from './http-answer.ts';
import { writeMessage } from './http-form.ts';
import { type HttpMessage, HttpReader, headerIn } from './http-reader.ts';
import { type Known, Recogniser } from './http-recogniser.ts';
import { isHttp2Preface, receiveHttp2 } from './http2-server.ts';
import { judgeRequest, nonceIn } from './judge-request.ts';

/** Whether the other side means to ask more on this connection. */
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
class Visit {
  readonly #socket: Socket;
  readonly #scene: ServerScene;
  readonly #recogniser: Recogniser;
  readonly #reader = new HttpReader('request');
  readonly #ends: Pick<ServerSight, 'ip' | 'port' | 'peerIp' | 'peerPort'>;
  #messages = 0;
  #isTold = false;
  #end: ServerSight['end'] = 'none';

  constructor(socket: Socket, recogniser: Recogniser, scene: ServerScene) {
    this.#socket = socket;
    this.#scene = scene;
    this.#recogniser = recogniser;
    this.#ends = {
      ip: socket.localAddress ?? '',
      port: socket.localPort ?? 0,
      peerIp: socket.remoteAddress?.replace(/^::ffff:/, '') ?? '',
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
    socket.on('close', () => this.tell());
  }

  /** What had begun and has not ended. Of a visit that said nothing at all only that it came. */
  tell(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    const { begun } = this.#reader;
    if (begun === undefined && this.#messages > 0) return;
    const known = begun?.head && this.#recogniser.find({ ...begun.head, body: Buffer.alloc(0) });
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
      this.#socket.end(plainAnswer(404, 'this cannot be read\n'));
    }
  }

  /** What speaks HTTP/2 from its first word is somebody else's. */
  #handOver(bytes: Buffer): void {
    this.#isTold = true;
    this.#socket.removeAllListeners('data').removeAllListeners('end').pause();
    this.#socket.unshift(bytes);
    receiveHttp2(this.#socket, { recogniser: this.#recogniser, scene: this.#scene, ends: this.#ends });
  }

  #answer(message: HttpMessage): void {
    this.#messages += 1;
    const nonce = nonceIn(message);
    if (nonce !== undefined) {
      this.#socket.end(plainAnswer(200, proofOf(this.#scene.proofKey, nonce)));
      return;
    }
    const known = this.#recogniser.find(message);
    if (known === undefined) {
      const told = { seen: 'modified' as const, rxBytes: message.bytes, rxSha256: hashOfBytes(message.body) };
      this.#record(undefined, { ...told, sentBytes: 0, sentSha256: '', end: 'none' });
      this.#socket.end(plainAnswer(404, 'unknown request\n'));
      return;
    }
    this.#answerKnown(message, known);
  }

  #answerKnown(message: HttpMessage, known: Known): void {
    const { seen, rxSha256, answer, asked } = judgeRequest(message, known, this.#scene);
    const reply = answerBytes(answer, asked);
    const isSilent = answer.mode === 'silent';
    this.#record(known, {
      seen,
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
    known: Known | undefined,
    told: Pick<ServerSight, 'seen' | 'rxBytes' | 'rxSha256' | 'sentBytes' | 'sentSha256' | 'end'>,
  ): void {
    this.#scene.record({
      attempt: known?.attempt.id ?? null,
      step: known?.step ?? 0,
      correlation: known?.correlation ?? 'none',
      ...this.#ends,
      ...told,
      atMs: this.#scene.elapsedMs(),
    });
  }
}

export const listenHttp = async (place: AttackListen, scene: ServerScene): Promise<AttackListener> => {
  const visits = new Set<Visit>();
  const recogniser = new Recogniser(place.service, scene);
  const onVisit = (socket: Socket) => {
    const visit = new Visit(socket, recogniser, scene);
    visits.add(visit);
    socket.on('close', () => visits.delete(visit));
  };
  const create = (): Server => {
    if (!place.isTls) return createServer({ allowHalfOpen: true, noDelay: true }, onVisit);
    // HTTP/1.1 where the other side speaks both.
    const server = createTlsServer({ ALPNProtocols: ['http/1.1', 'h2'], ...scene.tls }, onVisit);
    server.on('tlsClientError', () => {});
    return server;
  };
  const servers = await listenAll([place], create, { core: { count: 1 } });
  return {
    async close() {
      for (const visit of visits) visit.tell();
      await closeServers(servers);
    },
  };
};
