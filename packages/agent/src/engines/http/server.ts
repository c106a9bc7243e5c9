import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { HttpServerConfig } from '@rushhour/protocol';
import type { EngineContext, Run } from '../../engine.ts';
import { aborted } from '../../net/aborted.ts';
import { codeOf } from '../../net/error-kind.ts';
import { closeServers, listenAll } from '../../net/listen.ts';
import { chooserOf } from '../../net/rotation.ts';
import { serverTlsOptions } from '../../net/tls-options.ts';
import { createH2Server } from './h2-server.ts';
import { type RequestEvents, RequestParser } from './request-parser.ts';
import { createResponse, type Response } from './response.ts';
import { ServerMeters } from './server-meters.ts';

const carryOn = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
const badRequest = Buffer.from('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');

interface Deps {
  readonly next: () => Response;
  readonly meters: ServerMeters;
  readonly keepAlive: HttpServerConfig['keepAlive'];
}

/** One connection. Answers leave in the order of the requests, however long each is delayed. */
class ServerConnection implements RequestEvents {
  readonly #socket: Socket;
  readonly #deps: Deps;
  readonly #parser = new RequestParser(this);
  /** Answers to the bytes that are being read, sent together. */
  #answers: Buffer[] = [];
  #delayed: Promise<void> | undefined;
  #served = 0;
  #isClosing = false;

  constructor(socket: Socket, deps: Deps) {
    this.#socket = socket;
    this.#deps = deps;
    deps.meters.concurrent.add(1);
    deps.meters.connections.add(1);
    socket.on('data', (bytes) => this.#onData(bytes));
    socket.on('error', (error) => deps.meters.error(codeOf(error)));
    socket.on('close', () => deps.meters.concurrent.add(-1));
    if (deps.keepAlive.idleMs > 0) socket.setTimeout(deps.keepAlive.idleMs, () => socket.end());
  }

  onContinue(): void {
    this.#answers.push(carryOn);
  }

  onRequest(isHead: boolean, isKeptAlive: boolean): void {
    if (this.#isClosing) return;
    const { next, meters, keepAlive } = this.#deps;
    const response = next();
    this.#served++;
    const isLast = !isKeptAlive || !keepAlive.enabled || this.#served === keepAlive.maxRequests;
    this.#isClosing = isLast;
    meters.requests.add(1);
    meters.status(response.status);
    const form = isLast ? response.closing : response.keptAlive;
    const bytes = isHead ? form.head : form.full;
    if (response.delayMs > 0 || this.#delayed !== undefined) this.#sendLater(bytes, response.delayMs, isLast);
    else this.#answers.push(bytes);
  }

  #onData(bytes: Buffer): void {
    this.#deps.meters.rxBytes.add(bytes.length);
    try {
      this.#parser.feed(bytes, bytes.length);
    } catch {
      this.#deps.meters.error('protocol');
      this.#answers.push(badRequest);
      this.#isClosing = true;
    }
    this.#flush();
  }

  #flush(): void {
    if (this.#answers.length > 0) {
      const bytes = this.#answers.length === 1 ? (this.#answers[0] as Buffer) : Buffer.concat(this.#answers);
      this.#answers = [];
      this.#write(bytes);
    }
    if (this.#isClosing && this.#delayed === undefined) this.#socket.end();
  }

  #write(bytes: Buffer): void {
    this.#deps.meters.txBytes.add(bytes.length);
    this.#socket.write(bytes);
  }

  #sendLater(bytes: Buffer, delayMs: number, isLast: boolean): void {
    const due = new Promise<void>((resolve) => setTimeout(resolve, delayMs));
    const before = this.#delayed ?? Promise.resolve();
    const sent = before
      .then(() => due)
      .then(() => {
        if (this.#socket.writable) this.#write(bytes);
        if (this.#delayed === sent) this.#delayed = undefined;
        if (isLast) this.#socket.end();
      });
    this.#delayed = sent;
  }
}

/** Listens once prepared, so that clients find it at the common start. */
export const prepareHttpServer = async (context: EngineContext<HttpServerConfig>): Promise<Run> => {
  const { config, samples, signal } = context;
  const choose = chooserOf(config.responses.map(createResponse), 'roundRobin');
  const deps: Deps = { next: () => choose(0), meters: new ServerMeters(samples), keepAlive: config.keepAlive };
  const onConnection = (socket: Socket) => void new ServerConnection(socket, deps);
  const createServer = (): Server => {
    if (config.version === '2') return createH2Server(config, deps);
    if (config.tls === undefined) return createTcpServer({ noDelay: true }, onConnection);
    const server = createTlsServer(serverTlsOptions(config.tls, config.listen), onConnection);
    return server.on('tlsClientError', (error) => deps.meters.error(codeOf(error)));
  };
  const servers = await listenAll(config.listen, createServer, context);
  return {
    start: () => aborted(signal),
    close: () => closeServers(servers),
  };
};
