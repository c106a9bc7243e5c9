import type { TLSSocket } from 'node:tls';
import {
  ChannelError,
  maxMessageBytes,
  parseFileFrame,
  type SecureChannel,
  type ToAgent,
  type ToController,
} from '@rushhour/protocol';
import { WebSocket } from 'ws';
import type { AgentConfig } from '../config.ts';
import { BadMessage, parseMessage } from './parse-message.ts';

export interface ConnectionEvents {
  message(message: ToAgent): void;
  file(frame: ReturnType<typeof parseFileFrame>): void;
  bad(problem: BadMessage): void;
  /** The message was not sent. */
  tooLarge(message: ToController): void;
  /** Called once, whether the connection was ever established or not. */
  closed(reason: string): void;
}

const connectTimeoutMs = 8000;
const closeTimeoutMs = 1000;
const maxBytesIn = 64 * 1024 * 1024;

const tlsOptions = ({ fingerprint, ca }: AgentConfig) => ({
  ...(ca !== undefined && { ca }),
  // The fingerprint identifies the certificate; issuer and name are not checked.
  ...(fingerprint !== undefined && { rejectUnauthorized: false }),
});

/** Strips the IPv4-mapped prefix. */
const plain = (address = '') => address.replace(/^::ffff:/, '');

const fingerprintOf = (socket: TLSSocket): string =>
  (socket.getPeerCertificate().fingerprint256 ?? '').replaceAll(':', '').toLowerCase();

/** One WebSocket to the controller. */
export class Connection {
  readonly #socket: WebSocket;
  #events: ConnectionEvents | undefined;
  #reason = '';
  #channel: SecureChannel | undefined;
  /** Local address of the connection. */
  localAddress = '';
  /** Endpoint of the controller; undefined before the connection is established. */
  peer: { readonly address: string; readonly port: number } | undefined;

  constructor(config: AgentConfig, events: ConnectionEvents) {
    this.#events = events;
    this.#socket = new WebSocket(config.endpoint, {
      handshakeTimeout: connectTimeoutMs,
      perMessageDeflate: false,
      maxPayload: maxBytesIn,
      ...tlsOptions(config),
    });
    this.#socket.on('upgrade', ({ socket }) => {
      this.localAddress = plain(socket.localAddress);
      this.peer = { address: plain(socket.remoteAddress), port: socket.remotePort ?? 0 };
      if (config.fingerprint === undefined || fingerprintOf(socket as TLSSocket) === config.fingerprint) return;
      this.drop('the certificate of the controller does not match the given fingerprint');
    });
    this.#socket.on('message', (data, isBinary) => this.#handle(data as Buffer, isBinary));
    this.#socket.on('error', (error) => {
      this.#reason ||= error.message || (error as NodeJS.ErrnoException).code || 'unknown error';
    });
    this.#socket.on('close', (code, reason) => {
      this.#finish(this.#reason || `closed by the controller (${code} ${reason.toString()})`);
    });
  }

  /** Everything after the handshake is encrypted and authenticated in both directions. */
  secure(channel: SecureChannel): void {
    this.#channel = channel;
  }

  get isSecure(): boolean {
    return this.#channel !== undefined;
  }

  /** False when the connection is not open. */
  send(message: ToController): boolean {
    if (this.#events === undefined || this.#socket.readyState !== WebSocket.OPEN) return false;
    const text = Buffer.from(JSON.stringify(message));
    // The controller would close the session, again after each reconnect.
    if (text.length > maxMessageBytes) this.#events.tooLarge(message);
    else if (this.#channel === undefined) this.#socket.send(text, { binary: false });
    else this.#socket.send(this.#channel.seal('json', text));
    return true;
  }

  /** Bytes passed to `send` and not yet sent. */
  get backlogBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Pauses or resumes reading; while paused, the controller stops sending. */
  hold(isHeld: boolean): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (isHeld) this.#socket.pause();
    else this.#socket.resume();
  }

  /** Closes without waiting for the controller. */
  drop(reason: string): void {
    this.#reason ||= reason;
    this.#socket.terminate();
  }

  /** Closes after everything was sent. */
  async close(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#socket.once('close', () => resolve());
    this.#socket.close(1001);
    const timer = setTimeout(() => this.drop('closed'), closeTimeoutMs);
    await promise;
    clearTimeout(timer);
  }

  #handle(data: Buffer, isBinary: boolean): void {
    try {
      const { kind, content } = this.#opened(data, isBinary);
      if (kind === 'file') this.#events?.file(parseFileFrame(content));
      else this.#events?.message(parseMessage(content.toString()));
    } catch (error) {
      if (error instanceof ChannelError) this.drop(error.message);
      else if (error instanceof BadMessage) this.#events?.bad(error);
      else if (error instanceof RangeError && isBinary) this.#events?.bad(new BadMessage(error.message, undefined));
      else throw error;
    }
  }

  #opened(data: Buffer, isBinary: boolean): ReturnType<SecureChannel['open']> {
    if (this.#channel === undefined && !isBinary) return { kind: 'json', content: data };
    if (this.#channel === undefined || !isBinary) throw new ChannelError('a message is not sealed as it should be');
    return this.#channel.open(data);
  }

  #finish(reason: string): void {
    const events = this.#events;
    this.#events = undefined;
    events?.closed(reason);
  }
}
