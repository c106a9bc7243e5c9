/** Where a connection goes and, if it matters, where it comes from. */
export interface Route {
  readonly address: string;
  readonly port: number;
  readonly localAddress?: string;
  readonly localPort?: number;
}

/** What happens on a connection. A transport calls these synchronously, as few times as it can. */
export interface ConnectionEvents {
  /** The connection stands and can be written to; with TLS, after the handshake. */
  onOpen(): void;
  /** With TLS only: the connection stands, the handshake begins. */
  onConnect?(): void;
  /** The first `length` bytes are valid during this call only. */
  onData(bytes: Buffer, length: number): void;
  /** Called exactly once, last; without a code the peer or we closed in order. */
  onClose(code: string | undefined): void;
}

export interface Connection {
  /** The bytes must not change until they are sent; give the same buffer as often as you like. */
  write(bytes: Uint8Array): void;
  /** Sends what is written, then says goodbye. */
  close(): void;
  /** Drops the connection without ceremony. */
  reset(): void;
}

/** A way to carry bytes. Engines know only this, so a faster way can be put under them. */
export interface Transport {
  readonly name: string;
  connect(route: Route, events: ConnectionEvents): Connection;
}
