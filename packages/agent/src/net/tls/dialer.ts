import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TlsHello } from '@rushhour/protocol';

/** TLS sessions that later connections resume, by a key of their owner. */
export interface SessionStore {
  has(key: string): boolean;
  release(): void;
}

/** What a connection offers, beyond the settings that it shares with others. */
export interface TlsOffer {
  /** Of the server; verified where no name is asked for. */
  readonly address: string;
  /** The name to ask for, unless the settings have one. */
  readonly serverName?: string | undefined;
  /** Instead of the protocols of the settings. */
  readonly alpn?: readonly string[] | undefined;
  /** Prescribes the first message; the settings then do not apply. */
  readonly hello?: TlsHello | undefined;
  readonly resumes?: { readonly store: SessionStore; readonly key: string } | undefined;
}

/** Emits `secureConnect` once the handshake is done. */
export interface DialedSocket extends Duplex {
  readonly alpnProtocol: string | false | null;
}

/** TLS on connections that others open, for protocols that Node carries. */
export interface SecureDialer {
  createStore(): SessionStore;
  /** Begins the handshake as soon as `tcp` is connected. */
  dial(tcp: Socket, offer: TlsOffer): DialedSocket;
  /** The first message of a connection that resumes no session. */
  clientHello(offer: TlsOffer): Promise<Buffer>;
  close(): void;
}
