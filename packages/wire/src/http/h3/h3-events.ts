import type { Header } from '../hpack.ts';

export interface H3Events {
  /** Headers of a message; on a server of a new request. */
  onHeaders(stream: number, headers: readonly Header[], isEnd: boolean): void;
  onBody(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void;
  /** The headers after a body. */
  onTrailers?(stream: number, headers: readonly Header[]): void;
  /** The request ended by an error of either side. */
  onReset(stream: number, code: number): void;
  /** The settings of the peer have arrived. */
  onReady?(): void;
  /** The peer takes no requests from `stream` on. */
  onGoaway?(stream: number): void;
}

export interface H3Options {
  readonly isServer: boolean;
  /** Opens a unidirectional stream and returns its number. */
  readonly openStream: () => number;
  /** Copies the bytes before it returns. */
  readonly write: (stream: number, bytes: Uint8Array, isEnd: boolean) => void;
  /** Gives up a stream. */
  readonly reset: (stream: number, code: number) => void;
  /** Largest table of headers that the peer may use; 4096 if left out. */
  readonly tableBytes?: number;
  /** Uses the table of the peer; true if left out. */
  readonly usesTable?: boolean;
}
