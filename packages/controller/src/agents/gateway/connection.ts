import type { Question, SecureChannel, ToAgent, ToController } from '@rushhour/protocol';
import type { WebSocket } from 'ws';
import { AgentRefused, AgentUnreachable } from './gateway.ts';

type Answer = Extract<ToController, { type: 'answer' }>;

interface Asked {
  resolve(result: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

const defaultTimeoutMs = 10_000;
const closingMs = 2000;
/** What a close frame can carry. */
const maxReasonBytes = 123;

/** Codes that end a session. */
export const closeCode = {
  departed: 1001,
  violation: 1008,
  failure: 1011,
  restarting: 1012,
  refused: 4403,
  replaced: 4409,
} as const;

/** One WebSocket to an agent: messages out, questions and their answers. */
export class Connection {
  readonly address: string;
  readonly #socket: WebSocket;
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;
  #channel: SecureChannel | undefined;

  constructor(socket: WebSocket, address: string) {
    this.#socket = socket;
    this.address = address;
    socket.on('close', () => this.#giveUp());
  }

  get isOpen() {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Everything sent from now on is encrypted and authenticated. */
  secure(channel: SecureChannel) {
    this.#channel = channel;
  }

  send(message: ToAgent): boolean {
    if (!this.isOpen) return false;
    const text = JSON.stringify(message);
    this.#socket.send(this.#channel === undefined ? text : this.#channel.seal('json', Buffer.from(text)));
    return true;
  }

  /** Resolves when the bytes have left for the network: the way to send much without holding it. */
  sendBytes(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.isOpen || this.#channel === undefined) return reject(new AgentUnreachable('the connection is closed'));
      this.#socket.send(this.#channel.seal('file', bytes), { binary: true }, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  }

  ask(question: Question, timeoutMs = defaultTimeoutMs): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      const id = this.#lastId;
      const timer = setTimeout(() => {
        this.#asked.delete(id);
        reject(new AgentUnreachable(`no answer to ${question.kind} within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#asked.set(id, { resolve, reject, timer });
      if (!this.send({ type: 'question', id, question })) this.#giveUp();
    });
  }

  /** Answers to questions that were given up are dropped. */
  settle({ id, ok, result, error }: Answer) {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    this.#asked.delete(id);
    clearTimeout(asked.timer);
    if (ok) asked.resolve(result);
    else asked.reject(new AgentRefused(error ?? 'the agent refused'));
  }

  /** WebSocket ping: a busy agent answers it, too. */
  isAlive(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      if (!this.isOpen) return resolve(false);
      const finish = (isAlive: boolean) => () => {
        clearTimeout(timer);
        this.#socket.off('pong', onPong).off('close', onClose);
        resolve(isAlive);
      };
      const [onPong, onClose, onSilence] = [finish(true), finish(false), finish(false)];
      const timer = setTimeout(onSilence, timeoutMs);
      this.#socket.once('pong', onPong).once('close', onClose).ping();
    });
  }

  close(code: number, reason: string) {
    let text = reason;
    while (Buffer.byteLength(text) > maxReasonBytes) text = text.slice(0, -1);
    this.#socket.close(code, text);
    // A peer may not answer the close frame.
    const impatience = setTimeout(() => this.#socket.terminate(), closingMs).unref();
    this.#socket.once('close', () => clearTimeout(impatience));
  }

  terminate() {
    this.#socket.terminate();
  }

  #giveUp() {
    for (const { reject, timer } of this.#asked.values()) {
      clearTimeout(timer);
      reject(new AgentUnreachable('the agent is not connected'));
    }
    this.#asked.clear();
  }
}
