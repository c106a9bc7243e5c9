import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientObservation, TlsHello } from '@rushhour/protocol';
import type { SegmentShape } from '@rushhour/wire';
import { errorCodeOf } from '../../../net/metrics/count-error.ts';
import { isLocalSocketError } from '../../../net/metrics/generator-load-metrics.ts';
import type { DialedSocket, SecureDialer, SessionStore, TlsOffer } from '../../../net/tls/dialer.ts';
import { dialSocket } from '../../../net/transport/dial-socket.ts';
import type { Dialer } from '../../../net/transport/transport.ts';

/** Destination and source of an attempt. */
export interface AttackRoute {
  /** Host as configured, for names in requests. */
  readonly host: string;
  readonly address: string;
  readonly port: number;
  readonly transport: 'tcp' | 'udp' | 'icmp';
  readonly isTls: boolean;
  readonly localAddress?: string;
  readonly localPort?: number;
  readonly via?: Dialer;
  /** How its packets look; of emulated hosts only. */
  readonly shape?: SegmentShape;
  /** What TLS offers, instead of the settings of all connections. */
  readonly hello?: TlsHello;
  /** SNI, unless the TLS settings set one. */
  readonly serverName?: string;
  readonly timeoutMs: number;
}

/** Settings that all connections of a client share. */
export interface ConnectionSettings {
  readonly dialer: SecureDialer;
  /** Set when TLS sessions are resumed. */
  readonly sessions?: SessionStore;
  readonly signal: AbortSignal;
}

type Connect = ClientObservation['connect'];
type End = ClientObservation['end'];

export const connectOf: Readonly<Record<string, Connect>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'refused',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
};

export const endOf = (code: string): End => {
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'reset';
  if (code === 'ETIMEDOUT') return 'timeout';
  return /^alert\.|SSL|TLS|EPROTO/.test(code) ? 'alert' : 'reset';
};

/** Segmentation of written bytes. */
export interface Cut {
  readonly segmentBytes?: number;
  readonly gapMs?: number;
}

/** What begins by a hello of its own offers no session: that would be another hello. */
const offerFor = (route: AttackRoute, { sessions }: ConnectionSettings, alpn?: readonly string[]): TlsOffer => {
  const { address, port, serverName, hello } = route;
  const store = hello === undefined ? sessions : undefined;
  const key = `${address} ${port} ${serverName ?? ''}`;
  return { address, serverName, hello, alpn, ...(store && { resumes: { store, key } }) };
};

interface StartedTls {
  readonly socket: DialedSocket;
  /** What it offers, unless that includes a session. */
  readonly fullOffer: TlsOffer | undefined;
}

/** Begins the handshake; `alpn` instead of what the settings say. */
export const startTls = (
  route: AttackRoute,
  settings: ConnectionSettings,
  tcp: Socket,
  alpn?: readonly string[],
): StartedTls => {
  const offer = offerFor(route, settings, alpn);
  const isResumption = offer.resumes?.store.has(offer.resumes.key) ?? false;
  return { socket: settings.dialer.dial(tcp, offer), fullOffer: isResumption ? undefined : offer };
};

const maxBytes = 256 * 1024 * 1024;

/** A client connection that records how it opened, what was received and how it ended. Network errors never throw. */
export class ClientConnection {
  readonly #route: AttackRoute;
  readonly #socket: Duplex;
  /** What TLS has offered, for a full handshake. */
  readonly fullOffer: TlsOffer | undefined;
  #startedAt = performance.now();
  #onChange: () => void = () => {};
  #chunks: Buffer[] = [];
  #isOver = false;
  /** Local error of this machine, such as no free port. */
  ownError: string | undefined;
  connect: Connect = 'none';
  end: End = 'none';
  ip = '';
  port = 0;
  sentBytes = 0;
  rxBytes = 0;
  ttfbMs = 0;

  private constructor(route: AttackRoute, settings: ConnectionSettings) {
    this.#route = route;
    const tcp = dialSocket(route, { allowHalfOpen: true });
    tcp.on('connect', () => {
      this.ip = tcp.localAddress ?? '';
      this.port = tcp.localPort ?? 0;
      if (!route.isTls) this.connect = 'ok';
      else this.connect = 'tls-failed';
      this.#changed();
    });
    const opening = route.isTls ? startTls(route, settings, tcp) : { socket: tcp, fullOffer: undefined };
    this.#socket = opening.socket;
    this.fullOffer = opening.fullOffer;
    if (route.isTls) {
      tcp.on('error', (error) => this.#fail(errorCodeOf(error)));
      this.#socket.on('secureConnect', () => {
        this.connect = 'ok';
        this.#changed();
      });
    }
    this.#listen();
  }

  /** Resolves when the connection (with TLS: the handshake) has succeeded or failed. */
  static async open(route: AttackRoute, settings: ConnectionSettings): Promise<ClientConnection> {
    const connection = new ClientConnection(route, settings);
    const stop = () => connection.#fail('ETIMEDOUT');
    settings.signal.addEventListener('abort', stop, { once: true });
    connection.#socket.on('close', () => settings.signal.removeEventListener('abort', stop));
    await connection.#until(() => connection.connect === 'ok');
    return connection;
  }

  get isOpen(): boolean {
    return this.connect === 'ok' && !this.#isOver;
  }

  /** Resets the counters for another exchange on this connection. */
  begin(): void {
    this.#startedAt = performance.now();
    this.sentBytes = 0;
    this.rxBytes = 0;
    this.ttfbMs = 0;
  }

  /** All bytes received since the last call. */
  take(): Buffer {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    return bytes;
  }

  /** Resolves when all bytes are written or the connection has ended. True when they were written. */
  async write(bytes: Uint8Array, { segmentBytes = bytes.length, gapMs = 0 }: Cut = {}): Promise<boolean> {
    for (let at = 0; at < bytes.length; at += segmentBytes) {
      if (at > 0 && gapMs > 0) await sleep(gapMs);
      if (this.#isOver) return false;
      const piece = bytes.subarray(at, at + segmentBytes);
      if (!(await this.#writeOne(piece))) return false;
      this.sentBytes += piece.length;
    }
    return !this.#isOver || this.end === 'fin';
  }

  async #writeOne(piece: Uint8Array): Promise<boolean> {
    const { promise: written, resolve } = Promise.withResolvers<boolean>();
    let isTaken = false;
    this.#socket.write(piece, (error) => {
      isTaken = !error;
      resolve(isTaken);
      this.#changed();
    });
    if (await this.#until(() => isTaken)) return true;
    if (this.end !== 'fin') return false;
    // The answer and the end of the peer may be seen before the acknowledgement of what they answer.
    return Promise.race([written, sleep(this.#route.timeoutMs, false, { ref: false })]);
  }

  /** Waits for more bytes; false when the connection has ended or timed out. */
  async more(): Promise<boolean> {
    const before = this.rxBytes;
    if (this.#chunks.length > 0) return true;
    return this.#until(() => this.rxBytes > before);
  }

  /** Sends FIN. */
  finish(): void {
    this.#socket.end();
  }

  close(): void {
    this.#isOver = true;
    this.#socket.destroy();
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('data', (bytes: Buffer) => {
      if (this.rxBytes === 0) this.ttfbMs = performance.now() - this.#startedAt;
      this.rxBytes += bytes.length;
      this.#chunks.push(bytes);
      if (this.rxBytes > maxBytes) this.#fail('ETIMEDOUT');
      this.#changed();
    });
    socket.on('end', () => {
      if (this.end === 'none') this.end = 'fin';
      this.#isOver = true;
      this.#changed();
    });
    socket.on('error', (error) => this.#fail(errorCodeOf(error)));
    socket.on('close', () => {
      if (this.end === 'none' && this.connect !== 'none') this.end = 'fin';
      this.#isOver = true;
      this.#changed();
    });
  }

  #fail(code: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (isLocalSocketError(code)) this.ownError = code;
    if (this.connect === 'none') this.connect = connectOf[code] ?? 'unreachable';
    else this.end = endOf(code);
    this.#socket.destroy();
    this.#changed();
  }

  #changed(): void {
    this.#onChange();
  }

  /** Waits for a condition; false when the connection ends or times out first. */
  #until(isMet: () => boolean): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => this.#fail('ETIMEDOUT'), this.#route.timeoutMs);
    const look = () => {
      if (!isMet() && !this.#isOver) return;
      clearTimeout(timer);
      this.#onChange = () => {};
      resolve(isMet());
    };
    this.#onChange = look;
    look();
    return promise;
  }
}
