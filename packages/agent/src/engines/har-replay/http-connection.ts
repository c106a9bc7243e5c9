import type { Socket } from 'node:net';
import type { Counter } from '../../engine.ts';
import type { Answer, Request } from './answer.ts';

/** One connection that requests can be sent on. */
export interface HttpConnection {
  /** Whether several requests may be under way. */
  readonly isShared: boolean;
  /** Whether another request can be sent now. */
  readonly hasRoom: boolean;
  readonly isOpen: boolean;
  /** Requests that were answered on it. */
  readonly answered: number;
  /** Takes room for one request, which must follow. */
  reserve(): void;
  /** Rejects with a `LaneError`. */
  exchange(request: Request, timeoutMs: number): Promise<Answer>;
  close(): void;
}

/** Why a request was not answered. */
export class ConnectionError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** Where the bytes of connections are counted. */
export interface ByteCounters {
  readonly txBytes: Counter;
  readonly rxBytes: Counter;
}

/** Counts what has passed a socket since it was last looked at. */
export class ByteMeter {
  readonly #socket: Socket;
  readonly #counters: ByteCounters;
  #read = 0;
  #written = 0;

  constructor(socket: Socket, counters: ByteCounters) {
    this.#socket = socket;
    this.#counters = counters;
  }

  look(): void {
    const { bytesRead = 0, bytesWritten = 0 } = this.#socket;
    this.#counters.rxBytes.add(Math.max(0, bytesRead - this.#read));
    this.#counters.txBytes.add(Math.max(0, bytesWritten - this.#written));
    this.#read = Math.max(this.#read, bytesRead);
    this.#written = Math.max(this.#written, bytesWritten);
  }
}
