import { createHash, createPublicKey, randomBytes, randomUUID, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  type AgentLimits,
  challengeText,
  fileChunkBytes,
  fileFrame,
  type Greeting,
  maxMessageBytes,
  type Question,
  type ToAgent,
  ToController,
} from '@rushhour/protocol';
import type { TSchema } from 'typebox';
import * as value from 'typebox/value';
import { type WebSocket, WebSocketServer } from 'ws';

const timeoutMs = 60_000;
const { Check } = value as unknown as { Check(schema: TSchema, value: unknown): boolean };

export type MessageOf<Type extends ToController['type'] = ToController['type']> = Extract<ToController, { type: Type }>;

/** What a test waits for: the first matching message of a type and agent. */
export interface Expected<Type extends ToController['type']> {
  readonly type: Type;
  readonly uuid?: string;
  readonly fits?: (message: MessageOf<Type>) => boolean;
  /** Skips this many messages. */
  readonly after?: number;
}

/** The controller's side of the protocol on a real socket; records the messages of agents. */
export class ProtocolServer {
  readonly tokens = new Set<string>();
  /** Public keys of enrolled agents. */
  readonly enrolled = new Map<string, string>();
  readonly heard: { readonly uuid: string; readonly message: ToController }[] = [];
  /** Messages that violate the protocol. */
  readonly violations: string[] = [];
  readonly files = new Map<string, Buffer>();
  controllerId: string = randomUUID();
  limits: AgentLimits = { heartbeatMs: 200, deadManMs: 60_000, allowedTargets: ['127.0.0.0/8'] };
  packageKeys: string[] = [];
  /** Runs whose summaries are not acknowledged. */
  readonly unacknowledged = new Set<number>();
  /** Clock of this controller minus the real time. */
  clockAheadMs = 0;
  /** Closes the connection once after this many bytes of a file. */
  cutFileAfter = Number.POSITIVE_INFINITY;
  readonly #sockets = new Map<string, WebSocket>();
  readonly #waiting = new Set<() => void>();
  readonly #tls: { cert: string; key: string } | undefined;
  #server: Server | undefined;
  #port = 0;
  #questions = 0;

  private constructor(tls: { cert: string; key: string } | undefined) {
    this.#tls = tls;
  }

  static async start(tls?: { cert: string; key: string }): Promise<ProtocolServer> {
    const server = new ProtocolServer(tls);
    await server.listen();
    return server;
  }

  get url(): string {
    return `${this.#tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.#port}`;
  }

  /** Listens again on the same port after `vanish`. */
  async listen(): Promise<void> {
    const server = this.#tls === undefined ? createServer() : createTlsServer(this.#tls);
    const sockets = new WebSocketServer({ server, path: '/agent', maxPayload: maxMessageBytes });
    sockets.on('connection', (socket) => this.#welcome(socket));
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Simulates an outage: no listener, no connections. */
  async vanish(): Promise<void> {
    for (const socket of this.#sockets.values()) socket.terminate();
    this.#sockets.clear();
    this.#server?.closeAllConnections();
    this.#server?.close();
    if (this.#server !== undefined) await once(this.#server, 'close');
    this.#server = undefined;
  }

  drop(uuid: string): void {
    this.#sockets.get(uuid)?.terminate();
  }

  createToken(): string {
    const token = randomBytes(16).toString('hex');
    this.tokens.add(token);
    return token;
  }

  addFile(content: Buffer): { sha256: string; size: number } {
    const sha256 = createHash('sha256').update(content).digest('hex');
    this.files.set(sha256, content);
    return { sha256, size: content.length };
  }

  send(uuid: string, message: ToAgent): void {
    this.sendRaw(uuid, JSON.stringify(message));
  }

  sendRaw(uuid: string, text: string): void {
    const socket = this.#sockets.get(uuid);
    if (socket === undefined) throw new Error(`agent ${uuid} is not connected`);
    socket.send(text);
  }

  async ask(uuid: string, question: Question): Promise<MessageOf<'answer'>> {
    this.#questions += 1;
    const id = this.#questions;
    this.send(uuid, { type: 'question', id, question });
    return this.until({ type: 'answer', uuid, fits: (answer) => answer.id === id });
  }

  /** All messages of one type from an agent. */
  all<Type extends ToController['type']>(type: Type, uuid: string): MessageOf<Type>[] {
    return this.heard.flatMap(({ uuid: speaker, message }) =>
      speaker === uuid && message.type === type ? [message as MessageOf<Type>] : [],
    );
  }

  async until<Type extends ToController['type']>(expected: Expected<Type>): Promise<MessageOf<Type>> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const found = this.heard.slice(expected.after ?? 0).find(({ uuid, message }) => {
        const isRight = message.type === expected.type && (expected.uuid === undefined || expected.uuid === uuid);
        return isRight && (expected.fits?.(message as MessageOf<Type>) ?? true);
      });
      if (found !== undefined) return found.message as MessageOf<Type>;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new Error(`no ${expected.type} within ${timeoutMs} ms; heard ${this.#lastHeard()}`);
      await this.#somethingNew(leftMs);
    }
  }

  #lastHeard(): string {
    const last = this.heard.filter(({ message }) => message.type !== 'heartbeat').slice(-8);
    return last.map(({ message }) => JSON.stringify(message).slice(0, 300)).join('\n');
  }

  #somethingNew(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.#waiting.add(done);
    });
  }

  #welcome(socket: WebSocket): void {
    const nonce = randomBytes(16).toString('hex');
    let uuid = '';
    socket.on('error', () => {});
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString()) as ToController;
      if (!Check(ToController, message)) this.violations.push(data.toString().slice(0, 500));
      if (message.type === 'hello' || message.type === 'enrol') uuid = this.#admit(socket, message, nonce);
      else if (uuid === '') this.violations.push(`${message.type} before the greeting`);
      this.heard.push({ uuid, message });
      this.#react(socket, uuid, message);
      for (const done of [...this.#waiting]) done();
    });
    socket.on('close', () => {
      if (this.#sockets.get(uuid) === socket) this.#sockets.delete(uuid);
    });
    socket.send(JSON.stringify({ type: 'challenge', nonce }));
  }

  #admit(socket: WebSocket, greeting: Greeting, nonce: string): string {
    const say = (message: ToAgent) => socket.send(JSON.stringify(message));
    const refuse = (code: string) => {
      say({ type: 'refused', code, reason: `refused with ${code}`, retry: false });
      return '';
    };
    const { uuid, publicKey, signature } = greeting;
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
    if (!verify(null, Buffer.from(challengeText(nonce)), key, Buffer.from(signature, 'base64'))) {
      return refuse('BAD_SIGNATURE');
    }
    if (greeting.type === 'enrol') {
      if (!this.tokens.delete(greeting.token)) return refuse('TOKEN_UNKNOWN');
      this.enrolled.set(uuid, publicKey);
    } else if (this.enrolled.get(uuid) !== publicKey) return refuse('UNKNOWN_AGENT');
    this.#sockets.set(uuid, socket);
    say({
      type: 'welcome',
      agentId: [...this.enrolled.keys()].indexOf(uuid) + 1,
      controllerId: this.controllerId,
      limits: this.limits,
      packageKeys: this.packageKeys,
    });
    return uuid;
  }

  #react(socket: WebSocket, uuid: string, message: ToController): void {
    if (message.type === 'heartbeat') {
      socket.send(JSON.stringify({ type: 'beat', sentAt: message.sentAt, at: Date.now() + this.clockAheadMs }));
    }
    if (message.type === 'summaries' && !this.unacknowledged.has(message.runId)) {
      const { runId, epoch, order, summaries } = message;
      this.send(uuid, { type: 'acknowledge', runId, epoch, order, seq: summaries.at(-1)?.seq ?? 0 });
    }
    if (message.type === 'needFile') this.#sendFile(socket, message);
  }

  #sendFile(socket: WebSocket, { sha256, offset }: MessageOf<'needFile'>): void {
    const content = this.files.get(sha256);
    if (content === undefined) {
      socket.send(JSON.stringify({ type: 'noFile', sha256, reason: 'there is no such file' }));
      return;
    }
    for (let at = offset; at < content.length; at += fileChunkBytes) {
      if (at - offset >= this.cutFileAfter) {
        this.cutFileAfter = Number.POSITIVE_INFINITY;
        socket.close();
        return;
      }
      socket.send(fileFrame(sha256, at, content.subarray(at, at + fileChunkBytes)));
    }
  }
}
