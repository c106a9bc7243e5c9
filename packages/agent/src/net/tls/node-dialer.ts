import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect, type ConnectionOptions as NodeTlsOptions } from 'node:tls';
import type { TlsClientSettings } from '@rushhour/protocol';
import { helloOptions } from './client-offer.ts';
import type { DialedSocket, SecureDialer, SessionStore, TlsOffer } from './dialer.ts';
import { clientTlsOptions } from './tls-options.ts';

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
export class NodeDialer implements SecureDialer {
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
