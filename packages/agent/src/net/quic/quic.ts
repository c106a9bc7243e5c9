import type { HandshakeFacts } from '../transport/transport.ts';

/**
 * Requests of a client on one connection; then it opens another. OpenSSL keeps a part of every stream until its
 * connection ends, and goes through all of them whenever the peer allows more.
 */
export const maxRequestsOfClient = 1000;

/** The same on a server, which others may use with one connection for long: then it keeps tens of megabytes. */
export const maxRequestsOfServer = 100_000;

/** One stream of a QUIC connection. */
export interface QuicStream {
  readonly id: number;
  /** Some of what was written waits for the peer; `onDrained` tells when it does no more. */
  readonly isHeldUp: boolean;
  /** Copies the bytes before it returns. */
  write(bytes: Uint8Array, isEnd: boolean): void;
  /** Gives up both directions. */
  reset(code: number): void;
}

/** What arrives on a stream. Bytes are valid during the call only. */
export interface QuicStreamEvents {
  onData(bytes: Buffer, start: number, end: number, isEnd: boolean): void;
  /** The peer has given up its direction. */
  onReset(code: number): void;
  onDrained?(): void;
}

export interface QuicConnection {
  /** Opens a stream; undefined while the peer allows no more. What arrives on it goes to `events`. */
  openStream(isUnidirectional: boolean, events: QuicStreamEvents): QuicStream | undefined;
  /** After the handshake. */
  handshake(): HandshakeFacts;
  /** Closes at once with a code of the application; data that was not sent is lost. */
  close(code: number): void;
}

/** Events of a connection; `now` is on the `performance.now` clock. */
export interface QuicConnectionEvents {
  /** The handshake is complete. */
  onOpen(now: number): void;
  /** The peer has opened a stream. */
  onStream(stream: QuicStream, isUnidirectional: boolean): QuicStreamEvents;
  /** A stream can be opened again after `openStream` was refused. */
  onRoom?(now: number): void;
  /** Before the events of streams that arrived together. */
  onRead?(now: number): void;
  /** Called exactly once, as the last event. No code: an orderly close by either side. */
  onClose(code: string | undefined, now: number): void;
}
