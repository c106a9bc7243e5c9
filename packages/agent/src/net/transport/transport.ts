import type { Socket } from 'node:dgram';
import type { Duplex } from 'node:stream';
import type { Listen, TcpTuning } from '@rushhour/protocol';
import type { SegmentShape, SummedBytes } from '@rushhour/wire';
import type { CreateAlarm } from '../loop/alarm.ts';

/** Opens connections and datagram sockets of emulated hosts, in the shape of Node's own. */
export interface Dialer {
  dial(route: Route): Duplex;
  createDatagramSocket(): Socket & { listen(where: { readonly host: string; readonly port: number }): Promise<void> };
}

/** The remote endpoint of a connection and, optionally, its local one. */
export interface Route {
  readonly address: string;
  readonly port: number;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  /** Emulated hosts that the connection is opened by, instead of the kernel. */
  readonly via?: Dialer | undefined;
  /** How its data leaves; of emulated hosts only. */
  readonly shape?: SegmentShape | undefined;
}

/** Received bytes. Valid during the call only: the object and its memory are reused for the next ones. */
export interface Chunk {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** When they were read, on the `performance.now` clock. */
  readonly now: number;
  /** Address of the byte at `start`, if the memory is mapped. */
  readonly address?: number;
}

/** What both sides of a TLS connection agreed on. */
export interface HandshakeFacts {
  readonly version: string;
  readonly cipher: string;
  /** Of the key exchange; undefined where it is not known. */
  readonly group: string | undefined;
  readonly alpn: string | undefined;
  readonly isResumed: boolean;
}

/** Events of a connection. A transport calls these synchronously, as rarely as possible. */
export interface ConnectionEvents {
  /** The connection is established and writable; with TLS, after the handshake. Not called for accepted connections. */
  onOpen(now: number): void;
  /** With TLS only: TCP is established and the handshake begins. */
  onConnect?(): void;
  /** With TLS only: the handshake resumed an earlier session. Followed by `onOpen`. */
  onResume?(): void;
  /** With TLS and resumption only: a session that later connections can resume has arrived. */
  onTicket?(): void;
  onData(chunk: Chunk): void;
  /**
   * The kernel has accepted everything written. Tracking this costs time, so leave the handler out where it is not
   * needed.
   */
  onSent?(now: number): void;
  /** The peer has sent its FIN. Without this handler the connection is closed once all data is sent. */
  onEnd?(): void;
  /** Called exactly once, as the last event. No code: an orderly close by either side. */
  onClose(code: string | undefined, now: number): void;
}

/** Bytes that a transport can send repeatedly without copying. Created by `prepareMessage`. */
export interface Message {
  readonly bytes: Uint8Array;
  /** Their address in memory the kernel can read; 0 if they have to be copied. */
  readonly address: number;
  /** For transports that write checksums themselves. */
  readonly summed?: SummedBytes | undefined;
}

export interface Connection {
  write(message: Message): void;
  /** Copies the bytes before it returns. */
  writeCopy(bytes: Uint8Array): void;
  /** Sends buffered data, then a FIN. */
  close(): void;
  /** Sends a reset and discards buffered data. */
  reset(): void;
  /** With TLS only, after the handshake. */
  handshake?(): HandshakeFacts;
}

export interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

/** Options for all connections of a transport. */
export interface ConnectionOptions {
  readonly noDelay: boolean;
  /** 0 disables keep-alive. */
  readonly keepAliveSec: number;
  /** Size of the read buffers: large for bulk data, small for short messages. */
  readonly readSize: 'small' | 'large';
  /** After `close` the peer sends nothing of interest, so the socket is closed without waiting for its FIN. */
  readonly closesImmediately: boolean;
  /** Event handlers continue in promises, so the event loop lets those run after each batch of events. */
  readonly usesPromises?: boolean;
  /** `retransmits` of the transport is asked for. */
  readonly countsRetransmits?: boolean;
  /** Unset options keep the system defaults. Ignored by Node's own sockets. */
  readonly tuning?: TcpTuning | undefined;
}

/** Carries byte streams. Engines use only this interface, so that implementations can be exchanged. */
export interface Transport {
  readonly name: string;
  readonly createAlarm: CreateAlarm;
  prepareMessage(bytes: Uint8Array): Message;
  connect(route: Route, events: ConnectionEvents): Connection;
  /** `isShared`: several threads listen on the same port (`SO_REUSEPORT`). */
  listen(
    where: Listen & { readonly isShared: boolean },
    accept: (connection: Connection) => ConnectionEvents,
  ): Promise<Listener>;
  /**
   * Segments that all connections of this transport have sent again. Connections that are open are asked for at most
   * `limit` at a time. Missing where the system does not report it.
   */
  retransmits?(limit?: number): number;
  /** Resets all remaining connections. */
  close(): Promise<void>;
}
