import type { Header } from '../hpack.ts';

/** One request and its response. */
export class H2Stream {
  readonly id: number;
  sendWindow: number;
  /** What the peer may still send. */
  receiveWindow: number;
  /** Received and not yet given back to the peer. */
  consumed = 0;
  /** Nothing more is sent, or arrives. */
  isLocalDone = false;
  isRemoteDone = false;
  hasHeaders = false;
  /** The declared length of the body; -1: not declared. */
  contentLength = -1;
  received = 0;
  /** Headers to send after the body. */
  trailers: readonly Header[] | undefined;
  #body: Uint8Array | undefined;
  #at = 0;
  #isLast = false;

  constructor(id: number, windows: { readonly send: number; readonly receive: number }) {
    this.id = id;
    this.sendWindow = windows.send;
    this.receiveWindow = windows.receive;
  }

  get isWaiting(): boolean {
    return this.#body !== undefined;
  }

  get isDone(): boolean {
    return this.isLocalDone && this.isRemoteDone;
  }

  queue(body: Uint8Array, isLast: boolean): void {
    const rest = this.#body?.subarray(this.#at);
    if (rest === undefined) this.#body = body;
    else {
      const joined = new Uint8Array(rest.length + body.length);
      joined.set(rest);
      joined.set(body, rest.length);
      this.#body = joined;
    }
    this.#at = 0;
    this.#isLast = isLast;
  }

  /** The next part of the body, at most `limit` bytes; undefined if it has to wait for the window. */
  next(limit: number): { readonly part: Uint8Array; readonly isEnd: boolean } | undefined {
    const body = this.#body;
    if (body === undefined) return undefined;
    const count = Math.min(limit, this.sendWindow, body.length - this.#at);
    if (count <= 0 && body.length > this.#at) return undefined;
    const part = body.subarray(this.#at, this.#at + count);
    this.#at += count;
    const isDone = this.#at === body.length;
    if (isDone) this.#body = undefined;
    this.sendWindow -= count;
    return { part, isEnd: isDone && this.#isLast };
  }

  drop(): void {
    this.#body = undefined;
  }
}
