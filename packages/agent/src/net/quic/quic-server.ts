import type { Listen, TlsServerSettings } from '@rushhour/protocol';
import type { DatagramOptions, DatagramTransport } from '../datagram/datagram-transport.ts';
import { createMmsgTransport } from '../datagram/mmsg-transport.ts';
import type { HostNetwork } from '../host-network.ts';
import type { TlsObserver } from '../openssl/tls-connection.ts';
import { identityOf, TlsContext } from '../openssl/tls-context.ts';
import type { Listener } from '../transport/transport.ts';
import type { CloseReason } from './close-reason.ts';
import { DatagramCarrier } from './datagram-carrier.ts';
import { type Polled, pollEvent } from './poll-set.ts';
import type { QuicConnection, QuicConnectionEvents } from './quic.ts';
import type { QuicCarrier } from './quic-carrier.ts';
import { EndpointGroup, QuicEndpoint } from './quic-endpoint.ts';
import { QuicSession, type SessionHost } from './quic-session.ts';

const socketBufferBytes = 4 << 20;
const socketBatch = 128;
const listenerFlag = { doesNotValidate: 2 } as const;
const doesNotBlock = 1;

export interface QuicServerOptions extends TlsObserver {
  /** With a certificate. */
  readonly settings: TlsServerSettings;
  readonly alpn: readonly string[];
  /** Clients prove their address by a Retry packet before anything is kept for them. */
  readonly sendsRetry: boolean;
  /** Emulated hosts that listen. */
  readonly hostNetwork?: HostNetwork | undefined;
  /** A client goes on from another address. */
  readonly onMove?: (() => void) | undefined;
}

/** Called when the handshake of a connection has ended well. */
export type AcceptQuic = (connection: QuicConnection) => QuicConnectionEvents;

/** Accepts QUIC connections. */
export interface QuicServer {
  listen(where: Listen & { readonly isShared: boolean }, accept: AcceptQuic): Promise<Listener>;
  close(): Promise<void>;
}

interface Bound {
  readonly carrier: QuicCarrier;
  readonly port: number;
}

type Where = Listen & { readonly isShared: boolean };

const optionsOf = (isEmulated: boolean): DatagramOptions => ({
  sendBatch: { count: isEmulated ? 1 : socketBatch, bytes: 2048 },
  receiveBufferBytes: isEmulated ? 0 : socketBufferBytes,
});

const bindAt = async (
  datagrams: DatagramTransport,
  where: Where,
  { hostNetwork, onMove }: QuicServerOptions,
): Promise<Bound> => {
  let port = where.port;
  const carrier = new DatagramCarrier({
    isServer: true,
    onMove,
    open: async (events) => {
      const socket = await datagrams.bind(where, optionsOf(hostNetwork !== undefined), () => events);
      port = socket.port ?? port;
      return socket;
    },
  });
  await carrier.opened();
  return { carrier, port };
};

/** Events until the handshake is complete. */
class Pending implements QuicConnectionEvents {
  readonly #session: QuicSession;
  readonly #options: QuicServerOptions;
  readonly #accept: AcceptQuic;

  constructor(session: QuicSession, options: QuicServerOptions, accept: AcceptQuic) {
    this.#session = session;
    this.#options = options;
    this.#accept = accept;
  }

  onOpen(now: number): void {
    this.#session.events = this.#accept(this.#session);
    this.#session.events.onOpen(now);
  }

  onStream(): never {
    throw new Error('a stream before the end of the handshake');
  }

  onClose(code: string | undefined): void {
    this.#options.onHandshakeError?.(code ?? 'closed');
  }
}

/** A listener, its socket and its connections. */
class ServerEndpoint extends QuicEndpoint implements SessionHost, Polled {
  pollIndex = -1;
  ssl: number;
  readonly port: number;
  readonly #sessions = new Set<QuicSession>();
  readonly #options: QuicServerOptions;
  readonly #accept: AcceptQuic;

  constructor(
    group: EndpointGroup,
    { carrier, port }: Bound,
    { context, options, accept }: { context: TlsContext; options: QuicServerOptions; accept: AcceptQuic },
  ) {
    super(group, carrier);
    this.#options = options;
    this.#accept = accept;
    this.port = port;
    const { openssl } = this;
    this.ssl = openssl.SSL_new_listener(context.address, options.sendsRetry ? 0 : listenerFlag.doesNotValidate);
    carrier.attach(this, this.ssl);
    openssl.SSL_set_blocking_mode(this.ssl, 0);
    openssl.SSL_listen(this.ssl);
    openssl.ERR_clear_error();
    this.set.add(this, pollEvent.connection);
  }

  override get root(): number {
    return this.ssl;
  }

  protected override advance(): void {}

  onReady(): void {
    for (;;) {
      const ssl = this.openssl.SSL_accept_connection(this.ssl, doesNotBlock);
      if (ssl === 0) break;
      const session = new QuicSession(ssl, this);
      session.events = new Pending(session, this.#options, this.#accept);
      this.#sessions.add(session);
    }
    this.openssl.ERR_clear_error();
  }

  /** Whether it can listen is known before it is made. */
  onCarrierError(): void {}

  onEnd(session: QuicSession, { code, alert, isLocal }: CloseReason): void {
    this.#sessions.delete(session);
    if (alert !== undefined) this.#options.onAlert?.(isLocal ? 'sent' : 'received', alert);
    session.events.onClose(code, performance.now());
  }

  close(): void {
    if (this.ssl === 0) return;
    for (const session of [...this.#sessions]) session.close(0);
    this.set.remove(this);
    this.openssl.SSL_free(this.ssl);
    this.ssl = 0;
    this.release();
  }
}

export const createQuicServer = (options: QuicServerOptions): QuicServer => {
  const { settings, alpn } = options;
  const context = new TlsContext(
    { ...settings, versions: ['1.3'], earlyData: false },
    { alpn, identity: identityOf(settings), isQuic: true, onKeyLine: options.onKeyLine },
    true,
  );
  const group = new EndpointGroup();
  const datagrams = options.hostNetwork?.createDatagrams() ?? createMmsgTransport();
  return {
    async listen(where, accept) {
      const bound = await bindAt(datagrams, where, options);
      const endpoint = new ServerEndpoint(group, bound, { context, options, accept });
      return { port: endpoint.port, close: async () => endpoint.close() };
    },
    async close() {
      for (const endpoint of group.endpoints) (endpoint as ServerEndpoint).close();
      group.close();
      await datagrams.close();
      context.release();
    },
  };
};
