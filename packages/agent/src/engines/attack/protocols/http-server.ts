import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { AttackListen, Attempt, HttpExchange } from '@rushhour/protocol';
import { closeServers, listenAll } from '../../../net/listen.ts';
import type { AttackListener, ServerScene, ServerSight } from '../driver.ts';
import { hashOfBytes, proofOf, tokenOf } from '../proof.ts';
import { answerBytes } from './http-answer.ts';
import { lineOf, markerHeader, requestHash, writeMessage } from './http-form.ts';
import { type HttpMessage, HttpReader, headerIn } from './http-reader.ts';

type Step = HttpExchange['steps'][number];

interface Known {
  readonly attempt: Attempt;
  readonly step: number;
  readonly correlation: 'token' | 'content';
}

const proofPattern = /[?&]proof=([0-9a-f]{32})(?:&| |$)/;

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

/** Requests without a token are known by what they say; of several alike the first that has not come yet. */
class Recogniser {
  readonly #scene: ServerScene;
  readonly #open = new Map<string, { attempt: Attempt; step: number }[]>();

  constructor(service: string, scene: ServerScene) {
    this.#scene = scene;
    if (scene.marker) return;
    for (const attempt of scene.attemptsOf(service)) {
      if (attempt.exchange.protocol !== 'http') continue;
      for (const [step, { request }] of attempt.exchange.steps.entries()) {
        const body = request.body === undefined ? Buffer.alloc(0) : scene.bytesOf(request.body);
        const key = this.#key(`${request.method} ${request.path}`, body);
        this.#open.set(key, [...(this.#open.get(key) ?? []), { attempt, step }]);
      }
    }
  }

  find(message: Pick<HttpMessage, 'startLine' | 'headers' | 'body'>): Known | undefined {
    const known = this.#scene.attemptOf(headerIn(message, markerHeader) ?? '');
    if (known !== undefined) return { ...known, correlation: 'token' };
    const alike = this.#open.get(this.#key(lineOf(message), message.body)) ?? [];
    const exact = alike.findIndex(({ attempt, step }) => {
      const { request } = (attempt.exchange as HttpExchange).steps[step] as Step;
      const wanted = request.headers.map(({ name, value }) => `${name.trim().toLowerCase()}:${value.trim()}`);
      const came = new Set(message.headers.map(([name, value]) => `${name}:${value}`));
      return wanted.every((header) => came.has(header));
    });
    const [found] = alike.splice(Math.max(0, exact), 1);
    return found && { ...found, correlation: 'content' };
  }

  #key(line: string, body: Buffer): string {
    return `${line} ${hashOfBytes(body)}`;
  }
}

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
    try {
      for (const message of this.#reader.feed(bytes)) this.#answer(message);
    } catch {
      this.#socket.end(plainAnswer(404, 'this cannot be read\n'));
    }
  }

  #answer(message: HttpMessage): void {
    this.#messages += 1;
    const nonce = proofPattern.exec(message.startLine)?.[1];
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
    const { request, answer } = (known.attempt.exchange as HttpExchange).steps[known.step] as Step;
    const scene = this.#scene;
    const line = lineOf(message);
    const rxSha256 = requestHash(request, { line, headers: message.headers, body: message.body });
    const body = request.body === undefined ? Buffer.alloc(0) : scene.bytesOf(request.body);
    const pairs = request.headers.map(({ name, value }) => [name.trim().toLowerCase(), value.trim()] as const);
    const wanted = requestHash(request, { line: `${request.method} ${request.path}`, headers: pairs, body });
    const token = tokenOf(scene.runToken, known.attempt.id, known.step);
    // The answer is made from the request as it was meant, so that both ends expect the same.
    const reply = answerBytes(answer, { token, request: { line: `${request.method} ${request.path}`, body }, scene });
    const isSilent = answer.mode === 'silent';
    this.#record(known, {
      seen: rxSha256 === wanted ? 'full' : 'modified',
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
    const server = createTlsServer(scene.tls, onVisit);
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
