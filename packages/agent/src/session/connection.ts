import type { TLSSocket } from 'node:tls';
import { maxMessageBytes, parseFileFrame, type ToAgent, type ToController } from '@rushhour/protocol';
import { WebSocket } from 'ws';
import type { AgentConfig } from '../config.ts';
import { BadMessage, parseMessage } from './message-check.ts';

export interface ConnectionEvents {
  message(message: ToAgent): void;
  file(frame: ReturnType<typeof parseFileFrame>): void;
  bad(problem: BadMessage): void;
  /** It was not sent. */
  tooLarge(message: ToController): void;
  /** Once, whether the connection ever was there or not. */
  closed(reason: string): void;
}

const connectTimeoutMs = 8000;
const closeTimeoutMs = 1000;
const mostBytesIn = 64 * 1024 * 1024;

const tlsOptions = ({ fingerprint, ca }: AgentConfig) => ({
  ...(ca !== undefined && { ca }),
  // The fingerprint names the very certificate; who signed it and for which name does not matter then.
  ...(fingerprint !== undefined && { rejectUnauthorized: false }),
});

/** An IPv4 address in its usual form. */
const plain = (address = '') => address.replace(/^::ffff:/, '');

const fingerprintOf = (socket: TLSSocket): string =>
  (socket.getPeerCertificate().fingerprint256 ?? '').replaceAll(':', '').toLowerCase();

/** One WebSocket to the controller. */
export class Connection {
  readonly #socket: WebSocket;
  #events: ConnectionEvents | undefined;
  #reason = '';
  /** The address of this machine that the controller is reached from. */
  localAddress = '';
  /** Where the controller is; undefined before it is reached. */
  peer: { readonly address: string; readonly port: number } | undefined;

  constructor(config: AgentConfig, events: ConnectionEvents) {
    this.#events = events;
    this.#socket = new WebSocket(config.endpoint, {
      handshakeTimeout: connectTimeoutMs,
      perMessageDeflate: false,
      maxPayload: mostBytesIn,
      ...tlsOptions(config),
    });
    this.#socket.on('upgrade', ({ socket }) => {
      this.localAddress = plain(socket.localAddress);
      this.peer = { address: plain(socket.remoteAddress), port: socket.remotePort ?? 0 };
      if (config.fingerprint === undefined || fingerprintOf(socket as TLSSocket) === config.fingerprint) return;
      this.drop('the certificate of the controller is not the one with the given fingerprint');
    });
    this.#socket.on('message', (data, isBinary) => this.#take(data as Buffer, isBinary));
    this.#socket.on('error', (error) => {
      this.#reason ||= error.message || (error as NodeJS.ErrnoException).code || 'unknown error';
    });
    this.#socket.on('close', (code, reason) => {
      this.#finish(this.#reason || `closed by the controller (${code} ${reason.toString()})`);
    });
  }

  /** False when the connection is not open. */
  send(message: ToController): boolean {
    if (this.#events === undefined || this.#socket.readyState !== WebSocket.OPEN) return false;
    const text = JSON.stringify(message);
    // The controller would end the session, and after the next connection the same would happen again.
    if (Buffer.byteLength(text) > maxMessageBytes) this.#events.tooLarge(message);
    else this.#socket.send(text);
    return true;
  }

  /** Bytes that were given to `send` and have not left. */
  get backlogBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Reads nothing for a while, so that the controller stops sending. */
  hold(isHeld: boolean): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (isHeld) this.#socket.pause();
    else this.#socket.resume();
  }

  /** Ends it without waiting for the other side. */
  drop(reason: string): void {
    this.#reason ||= reason;
    this.#socket.terminate();
  }

  /** Lets everything that was sent leave first. */
  async close(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#socket.once('close', () => resolve());
    this.#socket.close(1001);
    const timer = setTimeout(() => this.drop('closed'), closeTimeoutMs);
    await promise;
    clearTimeout(timer);
  }

  #take(data: Buffer, isBinary: boolean): void {
    try {
      if (isBinary) this.#events?.file(parseFileFrame(data));
      else this.#events?.message(parseMessage(data.toString()));
    } catch (error) {
      if (error instanceof BadMessage) this.#events?.bad(error);
      else if (error instanceof RangeError && isBinary) this.#events?.bad(new BadMessage(error.message, undefined));
      else throw error;
    }
  }

  #finish(reason: string): void {
    const events = this.#events;
    this.#events = undefined;
    events?.closed(reason);
  }
}
