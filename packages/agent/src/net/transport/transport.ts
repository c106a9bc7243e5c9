import type { Listen, TcpTuning } from '@rushhour/protocol';
import type { CreateAlarm } from '../loop/alarm.ts';

/** Where a connection goes and, if it matters, where it comes from. */
export interface Route {
  readonly address: string;
  readonly port: number;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** Bytes that have arrived. Valid during the call only: the next ones come in the same object and memory. */
export interface Chunk {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** When they were found, in the time of `performance.now`. */
  readonly now: number;
}

/** What happens on a connection. A transport calls these synchronously, as few times as it can. */
export interface ConnectionEvents {
  /** The connection stands and can be written to; with TLS, after the handshake. Not called for accepted ones. */
  onOpen(now: number): void;
  /** With TLS only: the connection stands, the handshake begins. */
  onConnect?(): void;
  onData(chunk: Chunk): void;
  /** The system has taken everything that was written. Costs something, so only those who have it are told. */
  onSent?(now: number): void;
  /** The peer sends nothing more. Without this the connection is closed in order once all is sent. */
  onEnd?(): void;
  /** Called exactly once, last; without a code the peer or we closed in order. */
  onClose(code: string | undefined, now: number): void;
}

/** Bytes a transport can send as often as it is asked to, without copying. Made by its `keep`. */
export interface Message {
  readonly bytes: Uint8Array;
  /** Where the kernel finds them; 0: nowhere, they are copied. */
  readonly address: number;
}

export interface Connection {
  write(message: Message): void;
  /** Bytes that are needed no longer than this call. */
  writeCopy(bytes: Uint8Array): void;
  /** Sends what is written, then says goodbye. */
  close(): void;
  /** Drops the connection without ceremony. */
  reset(): void;
}

export interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

/** How connections of a transport are to behave. */
export interface ConnectionOptions {
  readonly noDelay: boolean;
  /** 0: none. */
  readonly keepAliveSec: number;
  /** Bytes to be read at once: more for bulk, less where answers are small. */
  readonly reads: 'small' | 'large';
  /** After a close nothing more is expected of the peer, so its goodbye need not be waited for. */
  readonly leavesAtOnce: boolean;
  /** What happens is carried on by promises, so they have to be kept soon. */
  readonly isPromising?: boolean;
  /** What is left out is the machine's own choice. Only sockets of our own can be tuned. */
  readonly tuning?: TcpTuning | undefined;
}

/** A way to carry bytes. Engines know only this, so a faster way can be put under them. */
export interface Transport {
  readonly name: string;
  readonly createAlarm: CreateAlarm;
  keep(bytes: Uint8Array): Message;
  connect(route: Route, events: ConnectionEvents): Connection;
  /** `isShared`: several cores listen on one port. */
  listen(
    where: Listen & { readonly isShared: boolean },
    accept: (connection: Connection) => ConnectionEvents,
  ): Promise<Listener>;
  /** Drops what is still connected. */
  close(): Promise<void>;
}
