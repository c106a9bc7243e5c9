import { createHash, createPublicKey, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  type AgentLimits,
  answerHail,
  fileChunkBytes,
  fileFrame,
  isSessionSignature,
  joinTokenOf,
  maxMessageBytes,
  type Proof,
  publicKeyText,
  type Question,
  type SecureChannel,
  sealBytes,
  type ToAgent,
  ToController,
} from '@rushhour/protocol';
import type { TSchema } from 'typebox';
import * as value from 'typebox/value';
import { type WebSocket, WebSocketServer } from 'ws';

const timeoutMs = 60_000;
const maxPayload = maxMessageBytes + sealBytes;
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

interface Peer {
  readonly socket: WebSocket;
  /** Sealed, once there is a channel. */
  say(text: string): void;
  sendFile(frame: Buffer): void;
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
  readonly #key = generateKeyPairSync('ed25519').privateKey;
  readonly #sockets = new Map<string, Peer>();
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
    const sockets = new WebSocketServer({ server, path: '/agent', maxPayload });
    sockets.on('connection', (socket) => this.#welcome(socket));
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Simulates an outage: no listener, no connections. */
  async vanish(): Promise<void> {
    for (const { socket } of this.#sockets.values()) socket.terminate();
    this.#sockets.clear();
    this.#server?.closeAllConnections();
    this.#server?.close();
    if (this.#server !== undefined) await once(this.#server, 'close');
    this.#server = undefined;
  }

  drop(uuid: string): void {
    this.#sockets.get(uuid)?.socket.terminate();
  }

  /** Public key of this controller. */
  get key(): string {
    return publicKeyText(createPublicKey(this.#key));
  }

  createToken(): string {
    const secret = randomBytes(16).toString('hex');
    this.tokens.add(secret);
    return joinTokenOf(secret, this.key);
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
    const peer = this.#sockets.get(uuid);
    if (peer === undefined) throw new Error(`agent ${uuid} is not connected`);
    peer.say(text);
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
    let digest = '';
    let channel: SecureChannel | undefined;
    const peer: Peer = {
      socket,
      say: (text) => socket.send(channel === undefined ? text : channel.seal('json', Buffer.from(text))),
      sendFile: (frame) => socket.send((channel as SecureChannel).seal('file', frame)),
    };
    socket.on('error', () => {});
    socket.on('message', (data: Buffer) => {
      const text = channel === undefined ? data.toString() : channel.open(data).content.toString();
      const message = JSON.parse(text) as ToController;
      if (!Check(ToController, message)) this.violations.push(text.slice(0, 500));
      if (message.type === 'hail') {
        const answer = answerHail(message, nonce, this.#key);
        peer.say(JSON.stringify({ type: 'identity', ...answer.identity }));
        ({ channel, digest } = answer);
      } else if (message.type === 'proof') uuid = this.#admit(peer, message, digest);
      else if (uuid === '') this.violations.push(`${message.type} before the proof`);
      else if (message.type === 'hello' || message.type === 'enrol') this.#enter(peer, uuid);
      this.heard.push({ uuid, message });
      this.#react(peer, uuid, message);
      for (const done of [...this.#waiting]) done();
    });
    socket.on('close', () => {
      if (this.#sockets.get(uuid) === peer) this.#sockets.delete(uuid);
    });
    peer.say(JSON.stringify({ type: 'challenge', nonce }));
  }

  #admit({ say }: Peer, { uuid, publicKey, signature, token }: Proof, digest: string): string {
    const refuse = (code: string) => {
      say(JSON.stringify({ type: 'refused', code, reason: `refused with ${code}`, retry: false }));
      return '';
    };
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
    if (!isSessionSignature(digest, key, signature)) return refuse('BAD_SIGNATURE');
    if (token !== undefined) {
      if (!this.tokens.delete(token)) return refuse('TOKEN_UNKNOWN');
      this.enrolled.set(uuid, publicKey);
    } else if (this.enrolled.get(uuid) !== publicKey) return refuse('UNKNOWN_AGENT');
    say(JSON.stringify({ type: 'proven' }));
    return uuid;
  }

  #enter(peer: Peer, uuid: string): void {
    this.#sockets.set(uuid, peer);
    this.send(uuid, {
      type: 'welcome',
      agentId: [...this.enrolled.keys()].indexOf(uuid) + 1,
      controllerId: this.controllerId,
      limits: this.limits,
      packageKeys: this.packageKeys,
    });
  }

  #react(peer: Peer, uuid: string, message: ToController): void {
    if (message.type === 'heartbeat') {
      peer.say(JSON.stringify({ type: 'beat', sentAt: message.sentAt, at: Date.now() + this.clockAheadMs }));
    }
    if (message.type === 'summaries' && !this.unacknowledged.has(message.runId)) {
      const { runId, epoch, order, summaries } = message;
      this.send(uuid, { type: 'acknowledge', runId, epoch, order, seq: summaries.at(-1)?.seq ?? 0 });
    }
    if (message.type === 'needFile') this.#sendFile(peer, message);
  }

  #sendFile(peer: Peer, { sha256, offset }: MessageOf<'needFile'>): void {
    const content = this.files.get(sha256);
    if (content === undefined) {
      peer.say(JSON.stringify({ type: 'noFile', sha256, reason: 'there is no such file' }));
      return;
    }
    for (let at = offset; at < content.length; at += fileChunkBytes) {
      if (at - offset >= this.cutFileAfter) {
        this.cutFileAfter = Number.POSITIVE_INFINITY;
        peer.socket.close();
        return;
      }
      peer.sendFile(fileFrame(sha256, at, content.subarray(at, at + fileChunkBytes)));
    }
  }
}
