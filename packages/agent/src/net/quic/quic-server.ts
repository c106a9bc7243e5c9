import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Listen, TlsServerSettings } from '@rushhour/protocol';
import type { DatagramTransport } from '../datagram/datagram-transport.ts';
import type { HostNetwork } from '../host-network.ts';
import {
  bindSocket,
  configureOrClose,
  localEndpoint,
  openSocket,
  option,
  setOption,
  socketType,
  trySetOption,
} from '../kernel/socket.ts';
import { family, familyOf } from '../kernel/socket-address.ts';
import type { TlsObserver } from '../openssl/tls-connection.ts';
import { identityOf, TlsContext } from '../openssl/tls-context.ts';
import type { Listener } from '../transport/transport.ts';
import type { CloseReason } from './close-reason.ts';
import { HostCarrier } from './host-carrier.ts';
import { type Polled, pollEvent } from './poll-set.ts';
import type { QuicConnection, QuicConnectionEvents } from './quic.ts';
import { type QuicCarrier, SocketCarrier } from './quic-carrier.ts';
import { EndpointGroup, QuicEndpoint } from './quic-endpoint.ts';
import { QuicSession, type SessionHost } from './quic-session.ts';

const socketBufferBytes = 4 << 20;
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
}

/** Called when the handshake of a connection has ended well. */
export type AcceptQuic = (connection: QuicConnection) => QuicConnectionEvents;

/** Accepts QUIC connections. */
export interface QuicServer {
  listen(where: Listen & { readonly isShared: boolean }, accept: AcceptQuic): Promise<Listener>;
  close(): Promise<void>;
}

const openServerSocket = (where: { address: string; port: number; isShared: boolean }): number =>
  configureOrClose(openSocket(familyOf(where.address), socketType.datagram), (fd) => {
    if (where.isShared) setOption(fd, option.reusePort, 1);
    if (familyOf(where.address) === family.inet6) setOption(fd, option.v6Only, 0);
    for (const name of ['receiveBuffer', 'sendBuffer'] as const) {
      if (!trySetOption(fd, option[`${name}Forced`], socketBufferBytes))
        trySetOption(fd, option[name], socketBufferBytes);
    }
    bindSocket(fd, where, 'listen');
  });

interface Bound {
  readonly carrier: QuicCarrier;
  readonly port: number;
}

type Where = Listen & { readonly isShared: boolean };

const bindSocketAt = async ({ poller }: EndpointGroup, { host, port, isShared }: Where): Promise<Bound> => {
  const address = isIP(host) === 0 ? (await lookup(host)).address : host;
  const fd = openServerSocket({ address, port, isShared });
  return { carrier: new SocketCarrier(poller, fd), port: localEndpoint(fd).port };
};

const boundOptions = { sendBatch: { count: 1, bytes: 2048 }, receiveBufferBytes: 0 };

const bindHosts = async (datagrams: DatagramTransport, where: Where): Promise<Bound> => {
  const carrier = new HostCarrier({
    isServer: true,
    open: (events) => datagrams.bind(where, boundOptions, () => events),
  });
  await carrier.opened();
  return { carrier, port: where.port };
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
  const datagrams = options.hostNetwork?.createDatagrams();
  return {
    async listen(where, accept) {
      const bound = await (datagrams === undefined ? bindSocketAt(group, where) : bindHosts(datagrams, where));
      const endpoint = new ServerEndpoint(group, bound, { context, options, accept });
      return { port: endpoint.port, close: async () => endpoint.close() };
    },
    async close() {
      for (const endpoint of group.endpoints) (endpoint as ServerEndpoint).close();
      group.close();
      await datagrams?.close();
      context.release();
    },
  };
};
