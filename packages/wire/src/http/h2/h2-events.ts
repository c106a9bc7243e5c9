import type { Header } from '../hpack.ts';

export interface H2Events {
  /** Headers of a message; on a server of a new stream. */
  onHeaders(stream: number, headers: readonly Header[], isEnd: boolean): void;
  onBody(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void;
  /** The headers after a body. */
  onTrailers?(stream: number, headers: readonly Header[]): void;
  /** The stream ended by an error of either side. */
  onReset(stream: number, code: number): void;
  /** The first settings of the peer have arrived. */
  onReady?(): void;
  /** The peer takes no streams after `lastStream`. */
  onGoaway?(lastStream: number, code: number): void;
}

export interface H2Options {
  readonly isServer: boolean;
  /** Copies the bytes before it returns. */
  readonly write: (bytes: Uint8Array) => void;
  /** Largest number of streams that the peer may open. */
  readonly maxStreams?: number;
  /** Receive window of a stream. */
  readonly windowBytes?: number;
}
