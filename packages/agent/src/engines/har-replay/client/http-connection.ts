import type { Socket } from 'node:net';
import type { Counter } from '../../../engine.ts';
import type { Answer, Request } from '../server/answer.ts';

/** One connection that requests can be sent on. */
export interface HttpConnection {
  /** Whether several requests may be in flight. */
  readonly isShared: boolean;
  /** Whether another request can be sent now. */
  readonly hasRoom: boolean;
  readonly isOpen: boolean;
  /** Number of requests answered on this connection. */
  readonly answered: number;
  /** Reserves capacity for one request, which must follow. */
  reserve(): void;
  /** Rejects with a `ConnectionError`. */
  exchange(request: Request, timeoutMs: number): Promise<Answer>;
  close(): void;
}

/** Reason why a request failed. */
export class ConnectionError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** Byte counters shared by connections. */
export interface ByteCounters {
  readonly txBytes: Counter;
  readonly rxBytes: Counter;
}

/** Adds the bytes of a socket since the last call to the counters. */
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
