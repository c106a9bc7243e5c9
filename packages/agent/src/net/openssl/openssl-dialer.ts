import type { Socket } from 'node:net';
import type { TlsClientSettings } from '@rushhour/protocol';
import { helloSettings, offerOf } from '../tls/client-offer.ts';
import type { DialedSocket, SecureDialer, SessionStore, TlsOffer } from '../tls/dialer.ts';
import { ConnectionDuplex, closeWhenWritten } from '../transport/connection-duplex.ts';
import { GivenConnection } from '../transport/given-sockets.ts';
import type { ConnectionEvents } from '../transport/transport.ts';
import { TicketStore } from './ticket-store.ts';
import { TlsClientConnection } from './tls-client-connection.ts';
import type { TlsObserver } from './tls-connection.ts';
import { identityOf, TlsContext } from './tls-context.ts';
import { tlsPipes } from './tls-pipes.ts';
import { createSessionPreparer } from './tls-transport.ts';

/** What is said over a TLS session on a socket of Node. */
class OpensslSocket extends ConnectionDuplex implements DialedSocket {
  alpnProtocol: string | false = false;
  readonly #connection: TlsClientConnection;
  readonly #tcp: Socket;
  #isOpen = false;

  constructor(connection: TlsClientConnection, tcp: Socket) {
    super(connection, { allowHalfOpen: tcp.allowHalfOpen });
    this.#connection = connection;
    this.#tcp = tcp;
  }

  override onOpen(): void {
    this.#isOpen = true;
    this.alpnProtocol = this.#connection.handshake().alpn ?? false;
    this.emit('secureConnect');
  }

  override onClose(code: string | undefined): void {
    super.onClose(code ?? (this.#isOpen ? undefined : 'ECONNRESET'));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const isWritten = this.#isOpen && this.#tcp.writableLength === 0;
    super._destroy(error, done);
    if (isWritten) closeWhenWritten(this.#tcp);
    else this.#tcp.destroy();
  }
}

/** Closes the socket at once when TLS has failed: its peer may never do so. */
const eventsOf = (connection: TlsClientConnection, tcp: Socket): ConnectionEvents => ({
  onOpen: (now) => connection.onOpen(now),
  onData(chunk) {
    connection.onData(chunk);
    if (connection.hasFailed) closeWhenWritten(tcp);
  },
  onEnd: () => connection.onEnd(),
  onSent: (now) => connection.onSent?.(now),
  onClose: (code, now) => connection.onClose(code, now),
});

const ignoresEverything: ConnectionEvents = { onOpen() {}, onData() {}, onClose() {} };

/** TLS by OpenSSL on sockets of Node, those of emulated hosts included. */
export class OpensslDialer implements SecureDialer {
  readonly #settings: TlsClientSettings;
  readonly #observer: TlsObserver;
  readonly #contexts = new Map<string, TlsContext>();

  constructor(settings: TlsClientSettings, observer: TlsObserver) {
    // Data of the first flight can be replayed: not for attacks and recorded requests.
    this.#settings = { ...settings, earlyData: false };
    this.#observer = observer;
    // Settings that OpenSSL refuses are reported at preparation.
    this.#contextFor({ address: '' });
  }

  createStore(): SessionStore {
    return new TicketStore();
  }

  dial(tcp: Socket, offer: TlsOffer): DialedSocket {
    const connection = this.#begin(offer);
    const socket = new OpensslSocket(connection, tcp);
    connection.events = socket;
    connection.onSent = () => socket.onSent();
    const events = eventsOf(connection, tcp);
    connection.inner = new GivenConnection(tcp, () => events);
    if (tcp.connecting) tcp.once('connect', () => events.onOpen(performance.now()));
    else events.onOpen(performance.now());
    return socket;
  }

  async clientHello(offer: TlsOffer): Promise<Buffer> {
    const connection = this.#begin({ ...offer, resumes: undefined });
    let sent = Buffer.alloc(0);
    const take = (bytes: Uint8Array) => {
      sent = Buffer.concat([sent, bytes]);
    };
    connection.events = ignoresEverything;
    connection.inner = { write: ({ bytes }) => take(bytes), writeCopy: take, close() {}, reset() {} };
    connection.onOpen(performance.now());
    connection.onClose(undefined, performance.now());
    return sent;
  }

  close(): void {
    for (const context of this.#contexts.values()) context.release();
    this.#contexts.clear();
  }

  #begin(offer: TlsOffer): TlsClientConnection {
    const { address, serverName, hello, resumes } = offer;
    const context = this.#contextFor(offer);
    const settings = hello === undefined ? this.#settings : helloSettings(hello);
    const sni = settings.sni ?? serverName;
    const prepare = createSessionPreparer({ ...settings, ...(sni !== undefined && { sni }) });
    return new TlsClientConnection(
      { ...this.#observer, pipes: tlsPipes(), context },
      {
        tickets: resumes?.store instanceof TicketStore ? resumes.store : undefined,
        endpoint: resumes?.key ?? '',
        prepare: (session) => prepare(session, address),
      },
    );
  }

  /** One for all connections that offer the same. */
  #contextFor({ alpn, hello }: TlsOffer): TlsContext {
    const key = JSON.stringify([alpn, hello]);
    const known = this.#contexts.get(key);
    if (known !== undefined) return known;
    const settings = hello === undefined ? this.#settings : helloSettings(hello);
    const options = {
      alpn: alpn ?? settings.alpn,
      identity: identityOf(settings),
      onKeyLine: this.#observer.onKeyLine,
      ...(hello !== undefined && { offer: offerOf(hello) }),
    };
    const context = new TlsContext(settings, options, false);
    this.#contexts.set(key, context);
    return context;
  }
}
