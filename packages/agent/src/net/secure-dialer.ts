import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect, type ConnectionOptions as NodeTlsOptions } from 'node:tls';
import type { TlsClientSettings, TlsHello } from '@rushhour/protocol';
import { OpensslDialer } from './openssl/openssl-dialer.ts';
import type { TlsObserver } from './openssl/tls-connection.ts';
import { fallbackReason } from './secure-path.ts';
import { helloOptions } from './tls/client-offer.ts';
import { clientTlsOptions } from './tls/tls-options.ts';

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

class NodeSessions implements SessionStore {
  readonly tickets = new Map<string, Buffer>();

  has(key: string): boolean {
    return this.tickets.has(key);
  }

  release(): void {
    this.tickets.clear();
  }
}

/** TLS of Node, where OpenSSL cannot be called directly. */
class NodeDialer implements SecureDialer {
  readonly #settings: TlsClientSettings;
  readonly #options: NodeTlsOptions;

  constructor(settings: TlsClientSettings) {
    this.#settings = settings;
    this.#options = clientTlsOptions(settings);
  }

  createStore(): SessionStore {
    return new NodeSessions();
  }

  dial(tcp: Socket, offer: TlsOffer): DialedSocket {
    const { store, key = '' } = offer.resumes ?? {};
    const tickets = store instanceof NodeSessions ? store.tickets : undefined;
    const session = tickets?.get(key);
    const socket = connect({ ...this.#optionsFor(offer), ...(session && { session }), socket: tcp });
    if (tickets !== undefined) socket.on('session', (ticket) => tickets.set(key, ticket));
    return socket;
  }

  clientHello(offer: TlsOffer): Promise<Buffer> {
    const { promise, resolve } = Promise.withResolvers<Buffer>();
    const nowhere = new Duplex({
      read() {},
      write(bytes: Buffer, _encoding, done) {
        resolve(bytes);
        done();
      },
    });
    const socket = connect({ ...this.#optionsFor(offer), socket: nowhere });
    socket.on('error', () => resolve(Buffer.alloc(0)));
    return promise.finally(() => {
      socket.destroy();
      nowhere.destroy();
    });
  }

  close(): void {}

  #optionsFor({ serverName, alpn, hello }: TlsOffer): NodeTlsOptions {
    const servername = hello === undefined ? (this.#settings.sni ?? serverName) : serverName;
    return {
      ...(hello === undefined ? this.#options : helloOptions(hello)),
      ...(alpn && { ALPNProtocols: [...alpn] }),
      ...(servername !== undefined && { servername }),
    };
  }
}

export interface SecureDialerOptions extends TlsObserver {
  readonly note: (remark: string) => void;
}

/** TLS for the side that connects. */
export const createSecureDialer = (settings: TlsClientSettings, options: SecureDialerOptions): SecureDialer => {
  const reason = fallbackReason(undefined);
  if (reason === undefined) return new OpensslDialer(settings, options);
  options.note(`TLS by node:tls: ${reason}`);
  return new NodeDialer(settings);
};
