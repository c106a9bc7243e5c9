import type { Connection, ConnectionEvents } from '../transport/transport.ts';
import { TlsConnection, type TlsConnectionDeps } from './tls-connection.ts';
import { plainBytes } from './tls-pipes.ts';

const earlyData = { failed: 0, read: 1, finished: 2 } as const;

/** The side that answers. Its connection is accepted once the handshake is done or early data has arrived. */
export class TlsServerConnection extends TlsConnection {
  readonly #accept: (connection: Connection) => ConnectionEvents;
  #readsEarly: boolean;

  constructor(deps: TlsConnectionDeps, accept: (connection: Connection) => ConnectionEvents) {
    super(deps);
    this.#accept = accept;
    this.#readsEarly = deps.context.settings.earlyData === true;
    this.openssl.SSL_set_accept_state(this.session);
  }

  onOpen(): void {}

  get isPending(): boolean {
    return this.phase === 'handshake';
  }

  protected override opened(): void {
    if (this.events === undefined) this.#attach();
  }

  protected override closed(code: string | undefined, now: number): void {
    if (this.events === undefined) this.deps.onHandshakeError?.(code ?? 'ECONNRESET');
    else super.closed(code, now);
  }

  protected override receiveEarly(now: number): boolean {
    const { plain, plainAddress } = this.deps.pipes;
    const lengthAt = plainBytes - 8;
    while (this.#readsEarly && !this.isIn('freed')) {
      const result = this.openssl.SSL_read_early_data(this.session, plainAddress, lengthAt, plainAddress + lengthAt);
      if (result === earlyData.failed) {
        this.judge(0);
        return false;
      }
      this.flushOutput();
      if (result === earlyData.finished) this.#readsEarly = false;
      else {
        this.phase = 'early';
        if (this.events === undefined) this.#attach();
        this.deliver(plain.bytes.readUInt32LE(lengthAt), now);
      }
    }
    return !this.isIn('freed');
  }

  #attach(): void {
    this.events = this.#accept(this);
    if (this.events.onSent !== undefined) this.onSent = (now) => this.events.onSent?.(now);
  }
}
